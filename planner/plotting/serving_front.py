"""Tokens/s of an accelerator against tokens/s of a user: one line a cluster, with the degrees along it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from planner.plotting.style import as_written, palette, plain_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from costmodel.serving.front import ServingFront

MOST_DOTS = 20_000
"""of candidates that others beat"""


def draw_serving_front(path: Path, fronts: Mapping[str, ServingFront], labels: Mapping[str, list[str]]) -> None:
    """An image file of fronts by name; `labels` has the degrees of each of a front's rows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 6.2), layout="constrained")
    serving_front(figure.subplots(), fronts, labels)
    figure.savefig(path, dpi=150)


def serving_front(ax: Axes, fronts: Mapping[str, ServingFront], labels: Mapping[str, list[str]]) -> Axes:
    """Fronts as lines, all other candidates as faint dots."""
    lowest = min(fronts, key=lambda name: float((fronts[name].per_user * fronts[name].per_device).max()))
    for colour, (name, front) in zip(palette(len(fronts)), fronts.items(), strict=True):
        x, y = front.per_user, front.per_device
        step = max(len(x) // MOST_DOTS, 1)
        ax.scatter(x[::step], y[::step], s=5, color=colour, alpha=0.2, linewidths=0)
        ax.plot(x[front.rows], y[front.rows], "-o", color=colour, markersize=3.5, label=name)
        _annotate(ax, front, labels[name], colour, is_below=name == lowest)
    ax.set(xscale="log", yscale="log", xlabel="tokens/s of a user", ylabel="tokens/s of an accelerator")
    ax.grid(which="both", color="#e3e7ec", linewidth=0.5)
    as_written(ax.legend(frameon=False, loc="lower left").get_texts())
    return plain_ticks(ax)


def _annotate(ax: Axes, front: ServingFront, labels: list[str], colour: str, *, is_below: bool) -> None:
    """Degrees once, in the middle of the points that have them; inside the lowest front, outside of all others."""
    from matplotlib.patheffects import withStroke

    side, places = (-1 if is_below else 1), range(len(front.rows))
    for degrees, run in groupby(places, key=labels.__getitem__):
        points = [*run]
        row = front.rows[points[len(points) // 2]]
        ax.annotate(
            degrees, (front.per_user[row], front.per_device[row]), textcoords="offset points",
            xytext=(5 * side, 3 * side), fontsize=7, color=colour, ha="right" if is_below else "left",
            va="top" if is_below else "bottom", path_effects=[withStroke(linewidth=2, foreground="white")],
        )  # fmt: skip
