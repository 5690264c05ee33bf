"""Figures of reproduced experiments."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from planner.model.errors import InputError
from planner.plotting.reproduced import FIGURES, save_figures
from planner.studies.reproduce.experiments import EXPERIMENTS
from planner.studies.reproduce.run import ExperimentOutcome
from tests.planner.plotting.reproduced_cases import outcome


def test_each_figure_belongs_to_an_experiment() -> None:
    assert set(FIGURES) <= set(EXPERIMENTS)


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        list(save_figures(tmp_path / "none", [outcome("dlrm_pooling")]))


@pytest.mark.slow
def test_the_picture_is_written(drawn: tuple[ExperimentOutcome, Figure], tmp_path: Path) -> None:
    (path,) = save_figures(tmp_path, [drawn[0]])
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 50_000
