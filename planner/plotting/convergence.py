"""How the best plan and its bound came together over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.model.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {"objective": "#0072b2", "bound": "#d55e00"}


def convergence(ax: Axes, result: Result) -> Axes:
    """Draw objective and bound of the first level against wall time, as steps that hold until the next."""
    first = result.levels[0].objective if result.levels else None
    trace = sorted((i for i in result.trace if first is None or i.level == first), key=lambda i: i.wall_time_s)
    for name, style in (("objective", "-"), ("bound", "--")):
        known = [(i.wall_time_s, getattr(i, name)) for i in trace if getattr(i, name) is not None]
        if not known:
            continue
        times, values = (list(column) for column in zip(*known, strict=True))
        end = max(times[-1], result.wall_time_s)
        steps = [*times, end], [*values, values[-1]]
        ax.step(*steps, where="post", linestyle=style, color=COLOURS[name], label=name)
    ax.set_xlabel("wall time (s)")
    ax.set_ylabel(first or "objective")
    if ax.get_lines():
        ax.legend(frameon=False)
    return ax
