"""Constraint groups of step 1 and the rules of the same name, on every kind of fabric there is.

Patterns are drawn at random and counted no further than by accelerators. Allowed is what step 1 lets be; forbidden
what it does not; on the boundary lie the patterns that it forbids and would allow without any one of their jobs.
"""

import re
from collections.abc import Iterator
from itertools import combinations

import pytest

from planner.checks import CHECKS, check
from planner.cpsat.solve import plan_of
from planner.cpsat.step1.constraints import groups_of
from planner.cpsat.step2.realize import realize
from planner.fabrics import fabrics
from planner.formulation.group import Group
from planner.formulation.step_two import StepTwoLimits
from planner.model.plan import Assignment
from tests.paths import ROOT
from tests.planner.fabrics.conformance.corners import CORNERS, line_on_rails
from tests.planner.fabrics.conformance.naive_plans import naive_plan, without_circuits
from tests.planner.fabrics.conformance.patterns import Drawn, drawn, smallest_forbidden

EVERY = pytest.mark.parametrize("kind", fabrics())
LIMITS = StepTwoLimits(time_limit_s=60.0, deterministic_limit=5.0, workers=1, seed=0)
MOST_REFUTED = {"lightpath": 6, "sipam": 1}
"""patterns that step 1 allows though step 2 proves that they do not fit: its groups are relaxations there"""
ALSO = {
    "cut": {"placement", "switches"},
    "same_rails": {"placement"},
    "pool_network": {"memory_pool"},
    "placement": {"rack", "pool_network"},
    "memory_nodes": {"placement"},
}
"""groups that choose accelerators or ports: where none are left, a plan takes some that are taken or down. Placement
also says which servers a job touches, on which racks and networks rest"""


def _realized(each: Drawn) -> bool:
    """Whether step 2 finds a plan, which then breaks no rule; else it proves that there is none."""
    outcome = realize(each.problem, each.pattern, LIMITS)
    if outcome.assignments is not None:
        assert each.broken(list(outcome.assignments)) == set()
        return True
    assert outcome.nogood
    return False


@pytest.mark.slow
@EVERY
def test_step_one_allows_all_that_first_fit_finds(kind: str) -> None:
    for each in drawn(kind):
        if each.first_fit is not None and not each.broken(each.first_fit):
            assert each.is_allowed, each.pattern


@pytest.mark.slow
@EVERY
def test_step_two_realises_what_step_one_counts_or_refutes_it(kind: str) -> None:
    allowed = [each for each in drawn(kind) if each.is_allowed and each.pattern]
    refuted = [each for each in allowed if not _realized(each)]
    assert len(allowed) > 20
    assert len(refuted) <= MOST_REFUTED.get(kind, 0), [(each.problem.instance.name, each.pattern) for each in refuted]


@pytest.mark.slow
@EVERY
def test_every_group_changes_a_verdict(kind: str) -> None:
    """Without it step 1 would allow something that all groups together forbid; no drawn job asks for servers by rack,
    which is a corner."""
    deciding = frozenset[str]().union(*(each.deciding for each in smallest_forbidden(kind)))
    fabrics_drawn = [each.problem.cluster.fabric for each in drawn(kind)]
    is_split = any(fabric.racks > 1 and not fabric.links_racks for fabric in fabrics_drawn)
    beyond = {"servers_by_rack"} | (set() if is_split else {"rack"})
    assert groups_of(fabrics()[kind]).keys() - deciding == beyond


@pytest.mark.slow
@EVERY
def test_a_group_forbids_what_its_rule_forbids(kind: str) -> None:
    """Jobs that one group alone keeps apart break the rule of its name where each lies as if it were alone."""
    for each in smallest_forbidden(kind):
        plan = naive_plan(each) if len(each.deciding) == 1 else None
        if plan is not None:
            group = groups_of(fabrics()[kind])[min(each.deciding)]
            found = set(group.rule(each.problem.instance, plan_of(each.problem, plan)))
            assert found or ALSO.get(group.name, set()) & each.broken(plan), each.pattern
            assert {violation.rule for violation in found} <= {group.told}
            assert found <= set(check(each.problem.instance, plan_of(each.problem, plan), starts=True))


@pytest.mark.slow
@EVERY
def test_on_the_boundary_jobs_fit_without_any_one_of_them(kind: str) -> None:
    allowed = [each.without(j) for each in smallest_forbidden(kind) for j in each.may_be_absent]
    refuted = sum(not _realized(each) for each in allowed)
    assert len(allowed) > 1
    assert refuted <= MOST_REFUTED.get(kind, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", CORNERS)
def test_in_a_corner_one_group_alone_forbids(name: str) -> None:
    corner = CORNERS[name]()
    assert corner.deciding == {name}
    assert all(_realized(corner.without(j)) for j in corner.pattern if len(corner.pattern) > 1)
    group, plan = groups_of(fabrics()[corner.kind])[name], naive_plan(corner) or without_circuits(corner)
    assert {group.told, *ALSO.get(name, ())} & corner.broken(plan)
    found = set(group.rule(corner.problem.instance, plan_of(corner.problem, plan)))
    assert found or name in ALSO
    assert found <= set(check(corner.problem.instance, plan_of(corner.problem, plan), starts=True))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lightpath", "ocs_rail", "sipam"])
def test_two_circuits_of_a_device_on_one_wavelength_break_a_rule(kind: str) -> None:
    found = 0
    for each in (line_on_rails(),) if kind == "ocs_rail" else drawn(kind)[::3]:
        if each.first_fit and not each.broken(each.first_fit):
            for changed in _with_a_wavelength_twice(each.first_fit):
                assert each.broken(changed)
                found += 1
    assert found > 0


def _with_a_wavelength_twice(assignments: list[Assignment]) -> Iterator[list[Assignment]]:
    """The plan with one circuit on the wavelengths of another that is on at the same time from the same device."""
    for a, assignment in enumerate(assignments):
        for h, held in enumerate(assignment.circuits):
            for (i, one), (j, two) in combinations(enumerate(held.circuits), 2):
                is_alike = (one.source, len(one.wavelengths)) == (two.source, len(two.wavelengths))
                if is_alike and one.wavelengths != two.wavelengths:
                    circuits = list(held.circuits)
                    circuits[j] = circuits[j].model_copy(update={"wavelengths": circuits[i].wavelengths})
                    all_held = list(assignment.circuits)
                    all_held[h] = held.model_copy(update={"circuits": tuple(circuits)})
                    changed = assignment.model_copy(update={"circuits": tuple(all_held)})
                    yield [*assignments[:a], changed, *assignments[a + 1 :]]
                    break


@pytest.mark.slow
def test_the_page_of_rules_lists_every_group() -> None:
    kinds: dict[Group, list[str]] = {}
    for kind, plugin in fabrics().items():
        for group in groups_of(plugin).values():
            kinds.setdefault(group, []).append(f"`{kind}`")
    rows = [
        f"| `{group.name}` | {'every fabric' if len(on) == len(fabrics()) else ', '.join(on)} "
        f"| `{getattr(group.rule, '__name__', '')}` | `{group.told}` | {group.says} |"
        for group, on in kinds.items()
    ]
    page = (ROOT / "planner" / "RULES.md").read_text("utf-8")
    listed = re.split(r"^## \d+\. Constraints of the model$", page, flags=re.MULTILINE)[1].partition("\n## ")[0]
    assert [line for line in listed.splitlines() if line.startswith("| `")] == rows


def test_every_group_tells_of_a_rule_that_users_see() -> None:
    assert {group.told for kind in fabrics() for group in groups_of(fabrics()[kind]).values()} <= CHECKS.keys()
