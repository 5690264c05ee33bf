"""One axes as a row of panels with common axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABEL_BOX = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.8}
"""behind labels that lie on lines"""


def panels(ax: Axes, titles: Sequence[str], *, share_x: bool = True) -> list[Axes]:
    """Panels in the place of `ax`, which is taken from its figure; the first has the labels of the y axis."""
    place = ax.get_subplotspec()
    if place is None:
        raise ValueError("ax: lies in no grid of its figure; take one of Figure.subplots")
    figure = ax.get_figure(root=False)
    assert figure is not None
    grid = place.subgridspec(1, len(titles))
    ax.remove()
    row: list[Axes] = []
    for column, title in enumerate(titles):
        shared = row[0] if row else None
        panel = figure.add_subplot(grid[column], sharex=shared if share_x else None, sharey=shared)
        panel.set_title(title, fontsize=10)
        panel.tick_params(labelleft=not row)
        panel.grid(which="major", color="#e3e7ec", linewidth=0.6)
        row.append(panel)
    return row


def legend_below(row: Sequence[Axes], columns: int) -> None:
    """One legend for all panels, below them: that of the first."""
    figure = row[0].get_figure(root=False)
    assert figure is not None
    handles, labels = row[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=8.5)
