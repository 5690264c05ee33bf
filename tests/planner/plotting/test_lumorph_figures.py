"""Figures on Lumorph: a row of panels, each with every algorithm, and marks where they were computed."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from planner.plotting.reproduced import save_figures
from planner.studies.reproduce.run import ExperimentOutcome


@pytest.mark.slow
def test_the_picture_is_written(drawn: tuple[ExperimentOutcome, Figure], tmp_path: Path) -> None:
    (path,) = save_figures(tmp_path, [drawn[0]])
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 50_000
