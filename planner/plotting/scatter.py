"""Predicted over measured, both on logarithmic axes, with bands of 10 and 20 %."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from planner.model.errors import InputError
from planner.plotting import SUFFIXES, require_matplotlib
from planner.plotting.style import HUES, as_written, palette, plain_ticks
from planner.studies.validate import QuantityErrors, group_labels
from planner.tables import Measurements

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = ("o", "^", "s", "D", "v")
"""another one for each eight groups"""
LEGEND_SIZE = 30.0
"""of marks in the legend, however many points there are"""
BANDS = ((0.2, "#eceff3"), (0.1, "#d8dee6"))


def scatter(ax: Axes, table: Measurements, quantity: QuantityErrors) -> Axes:
    """Draw each row that was predicted, one colour for each group, and the mean error of the group."""
    series, labels = quantity.series, group_labels(table)
    is_kept = np.isfinite(quantity.error)
    measured, predicted = series.measured[is_kept], series.predicted[is_kept]
    if len(measured):
        _bands(ax, np.concatenate([measured, predicted]))
    names = [group.name for group in quantity.groups] or ["all"]
    size = float(np.clip(40.0 / np.sqrt(max(len(measured), 1) / 50.0), 4.0, 30.0))
    for number, (name, colour) in enumerate(zip(names, palette(len(names)), strict=True)):
        chosen = is_kept & (labels == name)
        mean = float(np.abs(quantity.error[chosen]).mean()) if chosen.any() else 0.0
        ax.scatter(
            series.measured[chosen], series.predicted[chosen], s=size, alpha=0.6, linewidths=0, rasterized=True,
            color=colour, marker=MARKS[number // len(HUES) % len(MARKS)],
            label=f"{name}  {100 * mean:.1f} %", zorder=3,
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel(f"measured {series.quantity} ({series.unit})")
    ax.set_ylabel(f"predicted {series.quantity} ({series.unit})")
    mean_of_all = f", mean error {100 * quantity.all.mean:.1f} %" if quantity.all else ""
    ax.set_title(f"{len(measured):,} rows{mean_of_all}", fontsize=10)
    return plain_ticks(_with_legend(ax))


def save_scatter(path: Path, table: Measurements, quantities: Sequence[QuantityErrors]) -> None:
    """Write a figure with one panel for each quantity of which rows were predicted; the suffix is one of SUFFIXES.

    Raises InputError where there are none, and for a file that cannot be written.
    """
    drawn = [each for each in quantities if np.isfinite(each.error).any()]
    if not drawn:
        raise InputError(str(table.path), "", "no row was predicted, so that there is nothing to draw")
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(str(path), "", f"ends in no known format; use {' or '.join(SUFFIXES)}")
    require_matplotlib()
    from matplotlib.figure import Figure

    columns = min(len(drawn), 2)
    lines = -(-len(drawn) // columns)
    figure = Figure(figsize=(7.5 * columns, 5.0 * lines), layout="constrained")
    figure.suptitle(f"{table.path.name}  ({table.kind})", fontsize=11, parse_math=False)
    for number, quantity in enumerate(drawn, start=1):
        scatter(figure.add_subplot(lines, columns, number), table, quantity)
    try:
        figure.savefig(path, dpi=150, bbox_inches="tight")
    except OSError as error:
        raise InputError(str(path), "", f"cannot be written: {error.strerror}") from None


def _bands(ax: Axes, values: np.ndarray) -> None:
    ends = np.array([values.min() / 1.5, values.max() * 1.5])
    for share, colour in BANDS:
        ax.fill_between(
            ends, ends * (1 - share), ends * (1 + share), color=colour, linewidth=0, label=f"within {100 * share:.0f} %"
        )
    ax.plot(ends, ends, color="#59626e", linewidth=0.8)
    ax.set_xlim(*ends)
    ax.set_ylim(*ends)


def _with_legend(ax: Axes) -> Axes:
    """Groups and bands, beside the panel where they would hide points."""
    from matplotlib.collections import PathCollection

    handles, labels = ax.get_legend_handles_labels()
    outside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)} if len(labels) > 6 else {"loc": "upper left"}
    legend = ax.legend(handles, labels, frameon=False, fontsize=8, **outside)
    for handle in legend.legend_handles:
        if isinstance(handle, PathCollection):
            handle.set_sizes([LEGEND_SIZE])
    as_written(legend.get_texts())
    return ax
