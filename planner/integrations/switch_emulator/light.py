"""Where light went and when: what a switch did, whatever its tables or replies said."""

import math
from dataclasses import dataclass

CONTROLLER = "request"
"""cause of a circuit that was asked for; else the fault that made it"""


@dataclass(frozen=True)
class LightInterval:
    """Light between two ports of one switch, within 0.5 dB of its loss."""

    switch: str
    a_side: str
    b_side: str
    from_s: float
    """since when both ports are tuned"""
    until_s: float
    """infinite while it is on"""
    cause: str
    ended_by: str = ""
    """what put it off: `request`, or the fault; nothing while it is on"""

    @property
    def is_on(self) -> bool:
        return math.isinf(self.until_s)


class LightRecord:
    """All light of one switch."""

    def __init__(self, switch: str) -> None:
        self._switch = switch
        self._past: list[LightInterval] = []
        self._on: dict[str, tuple[str, str, float, str]] = {}

    def put_on(self, a_side: str, b_side: str, tuned_s: float, cause: str) -> None:
        """Light from `tuned_s` on; infinite where the ports never tune."""
        self._on[a_side] = (a_side, b_side, tuned_s, cause)

    def put_off(self, a_side: str, now_s: float, ended_by: str) -> None:
        """Nothing is recorded of light that went off before its ports were tuned."""
        held = self._on.pop(a_side, None)
        if held is not None and held[2] < now_s:
            self._past.append(LightInterval(self._switch, *held[:3], now_s, held[3], ended_by))

    def intervals(self, now_s: float) -> list[LightInterval]:
        """What was on, and what is on at `now_s`."""
        held = [LightInterval(self._switch, *each[:3], math.inf, each[3]) for each in list(self._on.values())]
        return [*self._past, *(each for each in held if each.from_s <= now_s)]
