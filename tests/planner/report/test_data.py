"""What the page is told, before it is drawn."""

import dataclasses
import math

import pytest

from planner.model.plan import Plan
from planner.model.result import Level, Result, Status
from planner.model.violation import Violation
from planner.report.data import headline
from tests.planner.report import rack
from tests.planner.report.data_cases import made_data


def test_the_floor_tells_what_failed() -> None:
    assert made_data(rack.result())["floor"] == {"letter": "t", "failed": [7], "dark": [6]}


def test_breakdowns_add_up_to_the_step() -> None:
    job = made_data(rack.result())["jobs"][0]["plan"]
    assert math.isclose(sum(seconds for _, seconds in job["time_s"]), job["step_s"])
    assert math.isclose(sum(joules for _, joules in job["energy_j"]) / job["step_s"], job["power_w"])
    assert job["roofline"]["flops_per_s"] < job["roofline"]["peak_flops_per_s"]
    assert job["collectives"] == [{"dimension": "tensor", "name": "ring w8"}]


def test_fiber_matrix_counts_light_and_failures() -> None:
    cells = made_data(rack.result())["matrices"][0]["cells"]
    assert cells[0][0] is None
    assert cells[0][1] == {
        "used": 8, "total": 8, "fibers": 2, "fibers_lit": 1, "failed": ["s0>s1#1"], "jobs": [0],
    }  # fmt: skip
    assert cells[1][0]["total"] == 16


def test_a_given_reason_takes_the_place_of_the_short_one() -> None:
    assert made_data(rack.result())["left_out"][0]["reason"] == "only 6 devices have light"
    given = made_data(rack.result(), **{rack.LEFT_OUT: "fits with 2 more tiles"})
    assert given["left_out"][0]["reason"] == "fits with 2 more tiles"


def test_convergence_is_that_of_the_first_level() -> None:
    points = made_data(rack.result())["convergence"]["points"]
    assert [point["objective"] for point in points] == [1.5, 2.0, 2.0]


def test_names_that_do_not_exist_are_left_out_of_the_floor() -> None:
    bad = rack.plan().model_dump()
    bad["assignments"] = [bad["assignments"][0] | {"devices": ("s7.t9", "s0.t0", "s0.t1", "s1.t0")}]
    violation = Violation("devices", "s7.t9", "does not exist")
    data = made_data(dataclasses.replace(rack.result(), plan=Plan.model_validate(bad)), violation)
    assert data["violations"] == ["s7.t9: does not exist (devices)"]
    assert data["totals"]["used"] == 3


@pytest.mark.parametrize(
    ("level", "words"),
    [
        (Level("value", 2.0, 2.0, 0.0, Status.OPTIMAL), "proven to be the best"),
        (Level("value", 2.0, 2.5, 0.2, Status.FEASIBLE), "no plan can do better than 2.5."),
        (Level("value", 12.13, 12.133, 2.4e-4, Status.FEASIBLE), "value of 12.13 is at most 0.024 % from the best"),
        (Level("value", 12.13, 12.13, 0.0, Status.FEASIBLE), "value of 12.13 is at most 0.01 % from the best"),
        (Level("value", 2.0, None, None, Status.FEASIBLE), "not known"),
    ],
)
def test_headline_says_how_good_the_plan_is(level: Level, words: str) -> None:
    totals = {"admitted": 2, "jobs": 3, "used": 5, "healthy": 7}
    result = dataclasses.replace(rack.result(), levels=(level,))
    assert words in headline(result, totals, 0)[-1]
    assert "do not deploy" in headline(result, totals, 2)[-1]


@pytest.mark.parametrize(("status", "words"), [(Status.INFEASIBLE, "proven"), (Status.NO_PLAN, "nothing")])
def test_without_a_plan_nothing_is_checked(status: Status, words: str) -> None:
    data = made_data(Result(status, "cpsat"))
    assert data["violations"] is None
    assert words in data["headline"][1]
