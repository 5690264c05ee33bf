"""The solver's placement against the rules, and its bound."""

from dataclasses import replace

import pytest

from planner.model.errors import InputError
from planner.model.page_instance import PageInstance
from planner.model.result import SolveOptions, Status
from planner.pages.cpsat.place import steps_kept_s
from planner.pages.cpsat.relaxation import relax
from planner.pages.policies import RULES, find_page_policy
from planner.pages.problem import PageProblem
from tests.planner.page_cases import fields
from tests.planner.pages.policies_cases import HOST, case


def test_the_relaxation_bounds_every_rule_and_is_no_weaker_than_the_links() -> None:
    data = case("VGG-E", ways=HOST)
    problem = PageProblem.of(PageInstance.parse(data))
    values = {name: problem.value_s(placed) for name, rule in RULES.items() if (placed := rule(problem)) is not None}
    found = relax(problem, [max(values.values())], 10)
    assert found is not None
    assert found.bound_s <= min(values.values())
    alone = replace(problem, tasks=(replace(problem.tasks[0], may_remake=False),))
    links_s = 2 * alone.tasks[0].program.size_bytes.sum() / 8e9
    strict = relax(alone, [max(values.values())], 10)
    assert strict is not None
    assert links_s <= strict.bound_s <= values["bw_aware"] * (1 + 1e-9)
    assert sum(steps_kept_s(problem)) <= found.bound_s * (1 + 1e-3)


def test_rules_are_policies_too() -> None:
    problem = PageProblem.of(PageInstance.parse(fields()))
    result = find_page_policy("bw_aware")(problem, SolveOptions())
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert [event.source for event in result.trace] == ["bw_aware"]
    assert result.bound_s == sum(steps_kept_s(problem))
    with pytest.raises(InputError, match="policies for pages are: cpsat, local"):
        find_page_policy("halves")
