"""Pooling of embeddings as lines."""

from matplotlib.figure import Figure

from planner.plotting.reproduced import FIGURES
from tests.planner.plotting.reproduced_cases import outcome


def test_pooling_has_a_line_for_each_network_batch_and_pooling() -> None:
    ax = FIGURES["dlrm_pooling"](Figure().subplots(), outcome("dlrm_pooling"))
    assert len([line for line in ax.get_lines() if len(line.get_xdata()) == 7]) == 12
