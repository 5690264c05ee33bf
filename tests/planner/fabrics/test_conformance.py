"""What holds on every kind of fabric there is: a new one is tested by existing.

Names and prices of parts are in `tests/costmodel/fabrics/test_inventory.py`, constraint groups and their rules in
`test_conformance_groups.py`, the cost of a decision in `tests/planner/fabrics/test_all_fabrics.py`.
"""

import subprocess
import sys
from itertools import product
from random import Random

import pytest
import yaml

from planner.checks import check
from planner.checks.residents import lost_parts
from planner.cli.new_instance import instance_text
from planner.cpsat.solve import plan_of
from planner.fabrics import fabrics, plugin_of
from planner.fabrics.claims import Holdings, lost
from planner.fabrics.pattern import Choice
from planner.fabrics.problem import Problem
from planner.formulation.step_two import StepTwoLimits
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import SolveOptions, Status
from planner.pipeline import solve
from planner.report.data import page_data
from planner.whatif.comparable import expand_as, references
from planner.whatif.failures import damaged, parse_failures
from tests.planner.fabrics.conformance.patterns import Drawn, drawn
from tests.planner.fabrics.conformance.small_clusters import random_parts

EVERY = pytest.mark.parametrize("kind", fabrics())
OPTIONS = SolveOptions(workers=1, deterministic_limit=2.0)
LIMITS = StepTwoLimits(time_limit_s=60.0, deterministic_limit=5.0, workers=1, seed=0)


def sound(kind: str) -> list[Drawn]:
    """Patterns whose first fit breaks no rule."""
    return [each for each in drawn(kind) if each.first_fit and not each.broken(each.first_fit)]


@pytest.mark.slow
@EVERY
def test_claims_of_a_plan_are_apart(kind: str) -> None:
    for each in sound(kind):
        fabric, holdings = each.problem.cluster.fabric, Holdings()
        for assignment in each.first_fit or ():
            claims = plugin_of(fabric).claims.of(fabric, assignment)
            assert holdings.conflict(claims) is None
            holdings.take(assignment.job, claims)
        capacity = plugin_of(fabric).claims.capacity(each.problem.cluster)
        assert all(holdings.counted(part) <= most for part, most in capacity.items())


@pytest.mark.slow
@EVERY
def test_what_is_lost_by_claims_is_what_the_rules_say(kind: str) -> None:
    rng, found = Random(kind), 0
    for each in sound(kind):
        names = random_parts(each.problem.cluster, rng, 3)
        cluster = damaged(each.problem.instance, parse_failures(each.problem.cluster, names)).cluster
        for assignment in each.first_fit or ():
            claims = plugin_of(cluster.fabric).claims.of(cluster.fabric, assignment)
            expected = lost_parts(cluster, assignment)
            assert sorted(lost(claims, cluster.failed_parts)) == sorted(expected)
            found += bool(expected)
    assert found > 5


@pytest.mark.slow
@EVERY
def test_release_is_the_inverse_of_take(kind: str) -> None:
    """What was first placed is placed there again, after another job came and went."""
    for each in sound(kind):
        for j, choice in each.pattern.items():
            state = plugin_of(each.problem.cluster.fabric).free_state(each.problem.cluster)
            others = [a for a in each.first_fit or () if a.job != each.problem.options[j].job.name]
            for other in (*others, *others):
                state.take_named(other)
                state.release_named(other)
            options = each.problem.options[j]
            fresh = plugin_of(each.problem.cluster.fabric).free_state(each.problem.cluster)
            twin, before = state.copy(), ([*state.any], [*state.free])
            found = fresh.assign(options, choice.row, choice.blocks)
            assert twin.assign(options, choice.row, choice.blocks) == found
            assert (state.any, state.free) == before
            assert state.assign(options, choice.row, choice.blocks) == found
            assert (twin.any, twin.free, twin.lit) == (state.any, state.free, state.lit)
            assert not any(twin.taken[part] ^ mask for part, mask in state.taken.items())


@pytest.mark.slow
@EVERY
def test_a_plan_survives_its_file(kind: str) -> None:
    for each in sound(kind)[:20]:
        plan = plan_of(each.problem, each.first_fit or [])
        assert Plan.model_validate_json(plan.model_dump_json(by_alias=True)) == plan
        assert Plan.model_validate_json(plan.model_dump_json(by_alias=True, exclude_none=True)) == plan


def _new(kind: str) -> Instance:
    text = instance_text("new", fabric=kind, servers=2, tiles=8, fibers=2, device="h100-sxm")
    return Instance.parse(yaml.safe_load(text))


@pytest.mark.slow
@EVERY
def test_a_new_instance_is_solved_and_drawn(kind: str) -> None:
    instance = _new(kind)
    result = solve(instance, options=OPTIONS, time_limit_s=60.0)
    assert result.plan is not None
    assert result.plan.assignments
    assert check(instance, result.plan, starts=True) == []
    page = page_data(instance, result, [], command="", versions={}, reasons={})
    fabric, letter, drawn_as = instance.cluster.fabric, page["floor"]["letter"], page["fabric"]
    racks, servers, slots = (drawn_as[key] for key in ("racks", "servers", "devices_per_server"))
    named = [
        f"r{s // servers}.s{s % servers}.{letter}{t}" if racks > 1 else f"s{s}.{letter}{t}"
        for s in range(racks * servers) for t in range(slots)
    ]  # fmt: skip
    assert named == [fabric.device_name(s, t) for s in range(fabric.num_servers) for t in range(slots)]
    assert {job["name"] for job in page["jobs"]} == {job.name for job in instance.all_jobs}


@pytest.mark.slow
@EVERY
def test_more_capacity_costs_no_value(kind: str) -> None:
    instance = next(each.problem.instance for each in sound(kind) if len(each.problem.options) == 1)
    measured = references(instance)
    base = solve(expand_as(instance, measured), options=OPTIONS, time_limit_s=60.0)
    upgrades = list(plugin_of(instance.cluster.fabric).upgrades.of(instance, base.plan))
    assert upgrades
    assert base.plan is not None
    for upgrade in [each for each in upgrades if each.is_addition][:3]:
        more = solve(expand_as(upgrade.instance, measured), options=OPTIONS, time_limit_s=60.0)
        assert more.plan is not None
        assert more.plan.objectives["value"] >= base.plan.objectives["value"] - 1e-6


@pytest.mark.slow
@EVERY
def test_cpsat_finds_what_enumeration_finds(kind: str) -> None:
    """Every row of every job on every spread of its blocks, by step 2 alone."""
    small = [each.problem for each in drawn(kind) if len(each.problem.options) == 1][::4][:3]
    assert small
    for problem in small:
        result = solve(problem.instance, options=OPTIONS, time_limit_s=60.0)
        assert result.status in (Status.OPTIMAL, Status.INFEASIBLE)
        best = _best_value(problem)
        if best is not None:
            assert result.plan is not None
            assert result.plan.objectives["value"] >= best - 1e-9


def _best_value(problem: Problem) -> float | None:
    """Of one job, over the rows drawn."""
    options, servers = problem.options[0], problem.cluster.fabric.num_servers
    values = []
    for row, demand in enumerate(options.shapes):
        for counts in product(range(demand.num_parts + 1), repeat=servers):
            if sum(counts) != demand.num_parts:
                continue
            each = Drawn(
                problem.cluster.fabric.kind,
                problem,
                {0: Choice(row, False, tuple((s, n) for s, n in enumerate(counts) if n))},
            )
            if each.first_fit is not None and not each.broken(each.first_fit):
                values.append(float(options.value[row]))
    return max(values, default=None)


@pytest.mark.slow
def test_rules_load_nothing_of_the_solver() -> None:
    """All of a plan is checked, on every fabric, without any module that finds plans."""
    code = (
        "import sys; from planner.checks import CHECKS; assert 'rails' in CHECKS; "
        "print([m for m in sys.modules if m == 'ortools' or m.startswith(('planner.cpsat', 'planner.heuristics', "
        "'planner.formulation', 'planner.candidates')) or 'constraints' in m or 'free_' in m])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
