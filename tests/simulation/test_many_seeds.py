"""300 runs of the whole controller, drawn by seed: on switches, and on lightpaths whose jobs grow and shrink."""

import pytest

from tests.planner.controller.sites import remember_kinds
from tests.simulation.run import run

ON_SWITCHES, ON_RACK, ON_RACKS = range(1_000_000, 1_000_240), range(40), range(20)
RUN_S, LIT_S = 14.0, 20.0
"""with mishaps on switches and on lightpaths: `python -m tests.simulation` has two and three times as much"""


@pytest.fixture(autouse=True, scope="module")
def _remembered_kinds() -> None:
    remember_kinds()


@pytest.mark.slow
@pytest.mark.parametrize("seed", ON_SWITCHES)
def test_nothing_is_wrong_on_switches(seed: int) -> None:
    assert run(seed, RUN_S).wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", ON_RACK)
def test_nothing_is_wrong_on_a_lightpath(seed: int) -> None:
    assert run(seed, LIT_S, on="lightpath").wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", ON_RACKS)
def test_nothing_is_wrong_on_racks_that_fibers_join(seed: int) -> None:
    assert run(seed, LIT_S, on="lightpath-fibers").wrong == []
