"""Figures of reproduced experiments."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from planner.model.errors import InputError
from planner.plotting.reproduced import FIGURES, save_figures
from planner.studies.reproduce.experiments import EXPERIMENTS
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import ExperimentOutcome, reproduce_file


def outcome(name: str) -> ExperimentOutcome:
    return reproduce_file(FOLDER / "photonic_fabric" / f"{name}.yaml")


def test_each_figure_belongs_to_an_experiment() -> None:
    assert set(FIGURES) <= set(EXPERIMENTS)


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


def test_pooling_has_a_line_for_each_network_batch_and_pooling() -> None:
    ax = FIGURES["dlrm_pooling"](Figure().subplots(), outcome("dlrm_pooling"))
    assert len([line for line in ax.get_lines() if len(line.get_xdata()) == 7]) == 12


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        list(save_figures(tmp_path / "none", [outcome("dlrm_pooling")]))
