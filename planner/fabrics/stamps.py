"""Numbers for the states of racks, so that what was found in a rack is looked up while nothing has changed there."""

from collections.abc import Iterable
from itertools import count


class Stamps:
    """A number of each rack: while it is the same, or the same again, what is free there is the same."""

    def __init__(self, racks: int) -> None:
        self.now = [*range(racks)]
        """by rack; no two racks, and no two states of one that are known to differ, have the same"""
        self._next = count(racks)
        self._last: list[tuple[object, int, int]] = [(None, -1, -1)] * racks
        """by rack what was last taken or given back, and the numbers while it is free and while it is taken"""

    def changed(self, racks: Iterable[int], what: object, *, is_taken: bool) -> None:
        """Something was taken, or given back, in these racks. What is given back right after it was taken, or the other
        way round, leaves them as before; `what` is the same object then, and not changed."""
        for rack in racks:
            stamp, (last, free, taken) = self.now[rack], self._last[rack]
            before, after = (free, taken) if is_taken else (taken, free)
            if last is not what or stamp != before:
                after = next(self._next)
                self._last[rack] = (what, stamp, after) if is_taken else (what, after, stamp)
            self.now[rack] = after
