"""Energy of each system as a line."""

import numpy as np
from matplotlib.figure import Figure

from planner.plotting.reproduced import FIGURES
from tests.planner.plotting.reproduced_cases import outcome


def test_energy_has_a_line_for_each_system_and_a_ring_for_each_cell() -> None:
    ax = FIGURES["collective_energy"](Figure().subplots(), outcome("collective_energy"))
    lines = [line for line in ax.get_lines() if line.get_marker() == "x"]
    rings = [line for line in ax.get_lines() if line.get_marker() == "o" and len(line.get_xdata())]
    assert len(lines) == len(rings) == 8
    for line, ring in zip(lines, rings, strict=True):
        np.testing.assert_allclose(line.get_ydata(), ring.get_ydata(), rtol=1e-3)
    assert ax.get_ylabel() == "energy (kJ)"
    assert [label.get_text() for label in ax.get_xticklabels()][:2] == ["1T", "2T"]


def test_offload_leaves_out_what_is_not_derivable() -> None:
    ax = FIGURES["offload_energy"](Figure().subplots(), outcome("offload_energy"))
    crosses = [np.asarray(line.get_ydata(), float) for line in ax.get_lines() if line.get_marker() == "x"]
    assert sum(int(np.isfinite(each).sum()) for each in crosses) == 14
