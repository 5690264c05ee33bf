"""Fixtures of the tests in this folder."""

import pytest
from matplotlib.figure import Figure

from planner.studies.reproduce.run import ExperimentOutcome
from tests.planner.plotting.lumorph_cases import draw


@pytest.fixture(scope="module")
def collectives() -> tuple[ExperimentOutcome, Figure]:
    return draw("collectives")


@pytest.fixture(scope="module")
def bert() -> tuple[ExperimentOutcome, Figure]:
    return draw("bert")


@pytest.fixture(params=["collectives", "bert"])
def drawn(request: pytest.FixtureRequest) -> tuple[ExperimentOutcome, Figure]:
    found: tuple[ExperimentOutcome, Figure] = request.getfixturevalue(request.param)
    return found
