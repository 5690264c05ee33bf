"""Lines that appear while a policy searches: better plans at once, better bounds now and then."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from planner.cli.output import console, number, percent, plain

if TYPE_CHECKING:
    from planner.model.result import Incumbent

SHOWN_EVERY_S = 0.5
FREQUENT = ("bound", "simulation")
"""sources of many small steps, shown now and then"""


class Progress:
    """Callback for `SolveOptions.on_incumbent` that hands each line worth reading to `write`."""

    def __init__(
        self,
        write: Callable[[str], None],
        levels: tuple[str, ...],
        show: Callable[[float | None], str] = number,
    ) -> None:
        self._write, self._number = write, show
        self._width = max(map(len, levels), default=0)
        self._bounds: dict[str, float] = {}
        self._last_s = -SHOWN_EVERY_S
        self._last_text = ""
        self._lock = threading.Lock()

    def __call__(self, incumbent: "Incumbent") -> None:
        with self._lock:
            self._show(incumbent)

    def _show(self, incumbent: "Incumbent") -> None:
        if incumbent.bound is not None:
            self._bounds[incumbent.level] = incumbent.bound
        is_bound, is_frequent = incumbent.source == "bound", incumbent.source in FREQUENT
        if is_frequent and incumbent.wall_time_s < self._last_s + SHOWN_EVERY_S:
            return
        text = self._text(incumbent)
        if is_bound and text == self._last_text:
            return
        if is_frequent:
            self._last_s = incumbent.wall_time_s
        self._last_text = text
        source = "" if is_bound else plain(incumbent.source)
        self._write(f"{incumbent.wall_time_s:5.1f} s  {text}{source}".rstrip())

    def _text(self, incumbent: "Incumbent") -> str:
        """Level, value, and where a bound is known the bound and the gap."""
        from planner.model.result import relative_gap

        bound = self._bounds.get(incumbent.level)
        text = f"{incumbent.level:<{self._width}}  {self._number(incumbent.objective):>8}   "
        if bound is None:
            return text
        gap = relative_gap(incumbent.objective, bound)
        return f"{text}bound {self._number(bound):>8}   gap {percent(gap):>8}   "


def telling(what: str) -> Callable[[int, int, float | None], None]:
    """Callback for runs of many cells: says on a terminal how far they are and what is left."""
    out = console(stderr=True)

    def tell(done: int, total: int, left_s: float | None) -> None:
        if out.is_terminal:
            left = "" if left_s is None or done == total else f", about {_rough(left_s)} left"
            out.print(f"\x1b[2K{done} of {total} {what}{left}", style="dim", end="\n" if done == total else "\r")

    return tell


def _rough(time_s: float) -> str:
    """Time as people say it: 40 s, 12 min, 3.5 h."""
    if time_s < 100:
        return f"{time_s:.0f} s"
    return f"{time_s / 60:.0f} min" if time_s < 100 * 60 else f"{time_s / 3600:.1f} h"


@contextmanager
def pricing() -> Iterator[Callable[[str, int, int], None]]:
    """Callback for `expand` that says on a terminal whose candidates are priced or compared, where it takes a while;
    the line goes at the end."""
    out, last, shown = console(stderr=True), time.monotonic(), False

    def tell(what: str, done: int, total: int) -> None:
        nonlocal last, shown
        now = time.monotonic()
        if out.is_terminal and now - last > SHOWN_EVERY_S:
            last, shown = now, True
            out.print(f"\x1b[2K{plain(what)}, {done} of {total} done", style="dim", end="\r", soft_wrap=True)

    try:
        yield tell
    finally:
        if shown:
            out.print("\x1b[2K", end="\r")
