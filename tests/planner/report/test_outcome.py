"""The outcome in an operator's words."""

import dataclasses

import pytest

from planner.model.result import Level, Result, Status
from planner.report.outcome import outcome_of, proof_of, work
from tests.planner.report import rack


def test_work_is_the_share_of_the_fastest_speed_by_weight() -> None:
    """Values 1.5 of weight 2 and 0.5 of weight 1 are roots of shares 0.5625 and 0.25."""
    assert work(rack.instance(), rack.plan()) == pytest.approx(2 * 0.5625 + 0.25)


def test_best_fit_stands_beside_the_plan() -> None:
    found = outcome_of(
        rack.instance(), rack.result(), rack.plan().model_copy(update={"assignments": rack.plan().assignments[1:]})
    )
    assert found is not None
    assert (found.admitted, found.jobs, found.best_fit_admitted) == (2, 3, 1)
    assert found.more_value == pytest.approx(3.0)
    assert found.more_work == pytest.approx(4.5)
    alone = outcome_of(rack.instance(), rack.result())
    assert alone is not None
    assert alone.more_work is None
    assert outcome_of(rack.instance(), Result(Status.NO_PLAN, "cpsat")) is None


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ((), "not proven"),
        ((Level("value", 2.0, None, None, Status.FEASIBLE),), "not proven"),
        ((Level("value", 2.0, 2.5, 0.2, Status.FEASIBLE),), "at most 20 % from the best"),
        ((Level("value", 2.0, 2.0, 0.0, Status.OPTIMAL),), "proven optimal"),
        (
            (Level("value", 2.0, 2.0, 0.0, Status.OPTIMAL), Level("energy", 3.0, 2.0, 0.3, Status.FEASIBLE)),
            "value proven optimal",
        ),
    ],
)
def test_the_proof_comes_after(levels: tuple[Level, ...], words: str) -> None:
    assert proof_of(dataclasses.replace(rack.result(), levels=levels)) == words
