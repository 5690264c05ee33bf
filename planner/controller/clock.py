"""The time of a controller: durations by a clock that never jumps, dates by the machine's, which may be wrong."""

import logging
import math
import time
from collections.abc import Callable
from datetime import UTC, datetime

from planner.model.errors import InputError

SLEW = 0.1
"""seconds by which the time may run ahead or behind in a second, until it is the machine's again"""
MOST_GAP_S = 30 * 86400.0
"""after a longer one since the last event, the machine's clock is not believed"""
FAR_S = 5.0
"""difference from the machine's clock that is logged"""
log = logging.getLogger("planner")


class Clock:
    """Seconds since 1970, which only advance, and never faster or slower than 1 + or - SLEW.

    A wrong reading of the machine's clock while this runs moves it by next to nothing; one at the start, backwards or
    by more than MOST_GAP_S, is not believed: time goes on from the last event. `Controller.set_clock` puts it right.
    """

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic) -> None:
        self._wall, self._steady = wall, steady
        self._now_s, self._at_s = 0.0, 0.0
        """the time, and the reading of the steady clock then"""

    def start(self, last_s: float) -> None:
        """Begin, after a last event at this time; 0: there is none."""
        wall_s = self._wall()
        is_believed = not last_s or 0 <= wall_s - last_s <= MOST_GAP_S
        self.set(wall_s if is_believed else last_s)
        if not is_believed and abs(wall_s - last_s) > FAR_S:
            warning = "this machine's clock says %s, the last event was at %s: time goes on from that; "
            log.warning(
                warning + "if the clock is right now, start once with --set-clock", _date(wall_s), _date(last_s)
            )

    def set(self, now_s: float) -> None:
        """The time is this."""
        self._now_s, self._at_s = now_s, self._steady()

    @property
    def wall_s(self) -> float:
        """The reading of the machine's clock, in seconds since 1970."""
        return self._wall()

    def read(self, last_s: float) -> float:
        """The time now, which is not before that of the last event."""
        steady_s = self._steady()
        passed_s = max(0.0, steady_s - self._at_s)
        expected_s = max(self._now_s + passed_s, last_s)
        wrong_s = self._wall() - expected_s
        most_s = SLEW * passed_s
        self._now_s = max(last_s, expected_s + min(most_s, max(-most_s, wrong_s)))
        self._at_s = steady_s
        return self._now_s

    def asked(self, call: str, at_s: float | None, last_s: float) -> float:
        """The time at which a call happens, given or now; InputError for what is no time."""
        now_s = self.read(last_s) if at_s is None else at_s
        if not (math.isfinite(now_s) and now_s >= 0):
            raise InputError(call, "at_s", f"{now_s} is no time; give seconds from 0 on")
        return now_s


def _date(at_s: float) -> str:
    try:
        return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return f"{at_s:g} s after 1970"
