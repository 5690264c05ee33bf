"""Configurations are fixed before devices are."""

from planner.candidates.expand import expand
from planner.cpsat.step2.fix_configurations import chosen_rows
from planner.fabrics.pattern import Choice
from planner.model.instance import Instance
from tests.planner.small_racks import rack, serving, single


def test_settling_keeps_the_chosen_rows_and_the_current_ones() -> None:
    problem = expand(Instance.parse(rack(serving("x", [1, 2]), serving("y", 2), residents=[single("r", "s0.t0")])))
    only = chosen_rows(problem, {1: Choice(1, False, ((0, 1),))})
    assert [len(options) for options in only.options] == [1, 1, 0]
    assert only.options[0].current == 0
