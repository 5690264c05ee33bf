"""Why a job runs or not: each kind of answer where it is known, each offer tried by a solve."""

import re

import pytest

from planner.explain import explain
from planner.model.errors import InputError
from planner.model.instance import Instance
from tests.planner.small_racks import ONE_SERVER, OPTIONS, ask, outcome, rack, serving, single, texts, training


@pytest.mark.slow
def test_rack_by_rack() -> None:
    jobs = [training("a", 3, weight=2), training("b", 3, weight=2), training("x", 2)]
    explanation = ask(rack(*jobs, tiles=2, fibers=1, racks=2), "x")
    assert explanation.tag == "does not fit beside this plan"
    assert "with 2 accelerators: needs 2, 1 is free in any one rack" in texts(explanation)
    slower = re.compile(r"fits with 1 accelerator \(1\.\d+x slower than its fastest\)")
    assert any(slower.fullmatch(text) for text in texts(explanation))
    said = texts(ask(rack(training("x", [3, 8]), tiles=2, racks=2), "x"))
    assert said[1] == "with 8 accelerators: needs 8 accelerators, a rack has 4"


@pytest.mark.slow
def test_immovable_residents_are_not_asked_to_move() -> None:
    residents = [single("r0", "s0.t0", movable=False), single("r1", "s1.t0", movable=False)]
    explanation = ask(rack(serving("x", 4, constraints=ONE_SERVER), residents=residents), "x")
    assert not any("moves" in text for text in texts(explanation))
    assert "no plan runs x and all required jobs and residents" in texts(explanation)


def test_unknown_job_and_foreign_plan() -> None:
    instance = Instance.parse(rack(serving("x", 3), serving("y", 3)))
    with pytest.raises(InputError, match="no job 'z'"):
        explain(instance, "z")
    plan = outcome(rack(serving("z", 4))).plan
    with pytest.raises(InputError, match="no job 'z'"):
        explain(instance, "x", plan=plan, options=OPTIONS)
    plan = outcome(rack(serving("y", 3))).plan
    assert plan is not None
    failed = Instance.parse(rack(serving("x", 3), serving("y", 3), health={"failed_tiles": [plan["y"].devices[0]]}))
    with pytest.raises(InputError, match="failed part"):
        explain(failed, "x", plan=plan, options=OPTIONS)
