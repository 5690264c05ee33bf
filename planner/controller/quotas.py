"""Quotas and use of tenants: limits, and the order of fair share."""

from dataclasses import dataclass, field

from planner.controller.settings import Settings
from planner.placement.placement import Place

MOST = 2**31
"""stands for no limit"""


@dataclass
class Use:
    """Accelerator-seconds of one tenant, the past counting half after each half-life, and what it holds now."""

    used: float = 0.0
    at_s: float = 0.0
    accelerators: int = 0
    ports: int = 0

    def at(self, now_s: float, half_life_s: float) -> float:
        """Use that counts now: each second that has passed since t counts 2 ** (-(now - t) / half-life)."""
        passed_s = now_s - self.at_s
        if passed_s <= 0:
            return self.used
        kept = 0.5 ** (passed_s / half_life_s)
        return float(self.used * kept + self.accelerators * half_life_s * 1.4426950408889634 * (1 - kept))

    def change(self, place: Place, sign: int, now_s: float, half_life_s: float) -> None:
        """A job of the tenant takes a place, or gives it back."""
        self.used, self.at_s = self.at(now_s, half_life_s), now_s
        self.accelerators += sign * len(place.devices)
        self.ports += sign * place.num_ports


@dataclass
class TenantUsage:
    """All tenants of one controller."""

    settings: Settings
    uses: dict[str, Use] = field(default_factory=dict)

    def change(self, tenant: str, place: Place, sign: int, now_s: float) -> None:
        """A job takes a place (+1) or gives it back (-1)."""
        self.uses.setdefault(tenant, Use(at_s=now_s)).change(place, sign, now_s, self.settings.half_life_s)

    def burden(self, tenant: str, now_s: float) -> float:
        """Use over share: of two tenants the one with less goes first."""
        use = self.uses.get(tenant)
        return 0.0 if use is None else use.at(now_s, self.settings.half_life_s) / self.settings.quota(tenant).share

    def all_of(self, tenant: str) -> tuple[int, int]:
        """Accelerators and optical ports that a tenant may take where it holds none."""
        quota = self.settings.quota(tenant)
        return MOST if quota.accelerators is None else quota.accelerators, MOST if quota.ports is None else quota.ports

    def left(self, tenant: str) -> tuple[int, int]:
        """Accelerators and optical ports that a tenant may still take."""
        quota, use = self.settings.quota(tenant), self.uses.get(tenant)
        held = (0, 0) if use is None else (use.accelerators, use.ports)
        accelerators = MOST if quota.accelerators is None else quota.accelerators - held[0]
        return accelerators, MOST if quota.ports is None else quota.ports - held[1]
