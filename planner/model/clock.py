"""Until when to work: one moment for all steps of a command, handed down and never moved back."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Clock:
    """A moment on the clock of `time.perf_counter`, and whether somebody asked to stop before it."""

    ends_s: float
    should_stop: Callable[[], bool] = bool
    lasts_s: float = float("-inf")
    """the moment before which it is not over, whatever happens"""

    @classmethod
    def of(cls, limit_s: float, should_stop: Callable[[], bool] = bool) -> "Clock":
        """A clock that ends in so many seconds."""
        return cls(time.perf_counter() + limit_s, should_stop)

    @property
    def left_s(self) -> float:
        """Seconds until the end, never below 0."""
        return max(self.ends_s - time.perf_counter(), 0.0)

    @property
    def is_over(self) -> bool:
        """Whether no more work should begin."""
        now_s = time.perf_counter()
        return now_s >= self.lasts_s and (now_s >= self.ends_s or self.should_stop())

    def has(self, seconds: float) -> bool:
        """Whether work of so many seconds would end in time."""
        return not self.is_over and time.perf_counter() + seconds <= max(self.ends_s, self.lasts_s)

    def lasting(self, seconds: float) -> "Clock":
        """The same, but not over for so many seconds from now, even if somebody asks."""
        return replace(self, lasts_s=time.perf_counter() + seconds)

    def until(self, is_enough: Callable[[], bool]) -> "Clock":
        """The same, but over as soon as what was found is enough."""
        return replace(self, should_stop=lambda: self.should_stop() or is_enough())

    def within(self, seconds: float) -> "Clock":
        """The same, but not for longer than so many seconds from now."""
        return replace(self, ends_s=min(self.ends_s, time.perf_counter() + seconds))
