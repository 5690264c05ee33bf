"""What faults cost in a replay: evictions, restarts, and accelerator-time lost, kept spare and out."""

from dataclasses import dataclass

HOUR_S = 3600.0


@dataclass
class FaultLedger:
    """Counts, and accelerator-seconds from `begin_s` to `end_s`."""

    begin_s: float
    end_s: float
    evictions: int = 0
    restarts: int = 0
    moved_accelerators: int = 0
    wasted_s: float = 0.0
    spare_s: float = 0.0
    down_s: float = 0.0
    _since_s: float = 0.0
    _spare: int = 0
    _down: int = 0

    def waste(self, since_s: float, now_s: float, accelerators: int) -> None:
        """So many did nothing that was kept."""
        self.wasted_s += self._within(since_s, now_s) * accelerators

    def capacity(self, now_s: float, spare: int, down: int) -> None:
        """From now on so many accelerators are kept free, and so many are out."""
        passed_s = self._within(self._since_s, now_s)
        self.spare_s += passed_s * self._spare
        self.down_s += passed_s * self._down
        self._since_s, self._spare, self._down = now_s, spare, down

    def _within(self, since_s: float, now_s: float) -> float:
        return max(0.0, min(now_s, self.end_s) - max(since_s, self.begin_s))

    def figures(self, busy_s: float, free_s: float) -> dict[str, float | None]:
        """`FAULT_MEASURES` by name; `busy_s` and `free_s` are accelerator-seconds held and free, spares in neither."""
        self.capacity(max(self._since_s, self.end_s), self._spare, self._down)
        return {
            "evictions": float(self.evictions),
            "restarts": float(self.restarts),
            "moved_accelerators": float(self.moved_accelerators),
            "used_h": (busy_s - self.wasted_s) / HOUR_S,
            "wasted_h": self.wasted_s / HOUR_S,
            "idle_h": free_s / HOUR_S,
            "spare_h": self.spare_s / HOUR_S,
            "down_h": self.down_s / HOUR_S,
        }
