"""Claims say of every fabric who may stand beside whom and what failures break, as its rules do."""

import ast
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from planner import Instance, Plan, check
from planner.candidates.expand import expand
from planner.checks.residents import lost_parts
from planner.fabrics import plugin_of
from planner.fabrics.claims import Claims, Conflict, Holdings, lost
from planner.model.cluster import Cluster
from planner.model.edit import edited
from planner.model.health import Health
from planner.model.plan import Assignment
from planner.pipeline import solve
from planner.whatif.failures import parse_failure, worsened
from tests.fabrics import FABRICS
from tests.planner.simulate.grounds import BERT

CLUSTERS: dict[str, dict[str, Any]] = {
    **FABRICS,
    "lightpath, shared waveguides": FABRICS["lightpath"] | {"waveguides": "shared", "fibers": 2},
    "lightpath, transit": FABRICS["lightpath"] | {"transit": 1},
    "divided_ports, shared": FABRICS["divided_ports"]
    | {"memory": {"kind": "appliances", "part": "photonic-fabric-appliance", "per_server": 1, "ports": 2}},
}
OF_THE_WHOLE_PLAN = {"claims", "pool_light", "admission"}
"""rules about objectives, the states of all switches, and who must run"""


@cache
def _instance(name: str) -> Instance:
    sizes = (2, 4, 8, 1, 4, 2, 4)
    jobs = [{"name": f"j{number}", "workload": BERT, "accelerators": size} for number, size in enumerate(sizes)]
    cluster = {"device": "h100-sxm", "fabric": CLUSTERS[name]}
    return Instance.parse({"schema_version": 2, "name": "claims", "cluster": cluster, "jobs": jobs})


@cache
def _plans(name: str) -> tuple[Plan, ...]:
    problem = expand(_instance(name))
    results = [solve(problem, policy="random_fit", seed=seed) for seed in range(3)]
    plans = [solve(problem, policy="best_fit").plan, *(result.plan for result in results)]
    return tuple(plan for plan in plans if plan is not None and plan.assignments)


def _claims(instance: Instance, assignment: Assignment) -> Claims:
    fabric = instance.cluster.fabric
    return plugin_of(fabric).claims.of(fabric, assignment)


def _refused(instance: Instance, assignments: tuple[Assignment, ...]) -> Conflict | str | None:
    holdings, capacity = Holdings(), plugin_of(instance.cluster.fabric).claims.capacity(instance.cluster)
    for assignment in assignments:
        claims = _claims(instance, assignment)
        refused = holdings.conflict(claims) or holdings.overdrawn(claims.counted, capacity)
        if refused is not None:
            return refused
        holdings.take(assignment.job, claims)
    return None


@pytest.mark.slow
@pytest.mark.parametrize("name", CLUSTERS)
def test_jobs_of_a_plan_claim_nothing_twice(name: str) -> None:
    assert _plans(name)
    for plan in _plans(name):
        assert len({name for a in plan.assignments for name in a.devices}) >= 8
        assert _refused(_instance(name), plan.assignments) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", CLUSTERS)
def test_mixed_placements_are_refused_where_rules_object(name: str) -> None:
    """Jobs taken from two plans stand together by their claims if and only if no rule is broken."""
    instance, generator = _instance(name), random.Random(1)
    num_broken = 0
    for _ in range(15):
        one, other = generator.choices(_plans(name), k=2)
        mine = [a for a in one.assignments if generator.random() < 0.5]
        theirs = [a for a in other.assignments if a.job not in {m.job for m in mine} and generator.random() < 0.4]
        mix = (*mine, *theirs)
        found = check(instance, Plan(instance=instance.name, assignments=mix))
        broken = [each for each in found if each.rule not in OF_THE_WHOLE_PLAN]
        assert (_refused(instance, mix) is None) == (not broken), broken
        num_broken += bool(broken)
    assert 0 < num_broken < 15


def _damaged(cluster: Cluster, parts: list[str], generator: random.Random) -> Cluster:
    chosen = generator.choices(parts, k=generator.randint(1, 4))
    return edited(cluster, health=worsened(Health(), [parse_failure(cluster, part) for part in chosen]))


@pytest.mark.slow
@pytest.mark.parametrize("name", CLUSTERS)
def test_what_is_lost_is_what_the_rules_say(name: str) -> None:
    instance, generator = _instance(name), random.Random(2)
    placed = [a for plan in _plans(name) for a in plan.assignments]
    claims = [_claims(instance, assignment) for assignment in placed]
    used = {part for each in claims for part in (*each.owned, *each.relies_on)}
    parts = sorted(part for part in used if not part.startswith("waveguide "))
    num_lost = 0
    for _ in range(40):
        cluster = _damaged(instance.cluster, parts, generator)
        for assignment, each in zip(placed, claims, strict=True):
            found = lost(each, cluster.failed_parts)
            assert sorted(found) == sorted(lost_parts(cluster, assignment))
            num_lost += bool(found)
    assert num_lost


@pytest.mark.parametrize("name", CLUSTERS)
def test_what_is_released_is_free_again(name: str) -> None:
    """Jobs enter and leave in any order: in the end nothing is owned or counted, and at no time more than is held."""
    instance, generator = _instance(name), random.Random(3)
    placed = {a.job: _claims(instance, a) for a in _plans(name)[0].assignments}
    holdings, inside = Holdings(), set[str]()
    for _ in range(60):
        job = generator.choice(sorted(placed))
        if job in inside:
            holdings.release(job)
        else:
            assert holdings.conflict(placed[job]) is None
            holdings.take(job, placed[job])
        inside ^= {job}
        for other, claims in placed.items():
            assert (holdings.conflict(claims) is not None) == (other in inside)
            assert holdings.conflict(claims, {other}) is None
            for part, amount in claims.counted.items():
                others = sum(placed[name].counted.get(part, 0) for name in inside - {other})
                assert holdings.counted(part, {other}) == others
                assert holdings.overdrawn({part: amount}, {part: others + amount}, {other}) is None
                assert holdings.overdrawn({part: amount + 1}, {part: others + amount}, {other}) == part
    for job in inside:
        holdings.release(job)
    assert all(not holdings.owners(part) for claims in placed.values() for part in claims.owned)
    with pytest.raises(KeyError):
        holdings.release("nobody")


def test_the_lowest_wavelength_in_conflict_names_its_owner() -> None:
    holdings = Holdings()
    holdings.take("high", Claims({"s0>s1#0": 0b1100}, {}, ()))
    holdings.take("low", Claims({"s0>s1#0": 0b0001}, {}, ()))
    asked = Claims({"s0>s1#0": 0b1101}, {}, ())
    assert holdings.conflict(asked) == ("s0>s1#0", 0b0001, "low")
    assert holdings.conflict(asked, {"low"}) == ("s0>s1#0", 0b1100, "high")
    assert holdings.conflict(Claims({"s0>s1#0": 0b0010}, {}, ())) is None


def test_claims_share_no_code_with_what_finds_placements() -> None:
    """A validator that reads claims is independent only if these are read from names alone."""
    claims = ("claims", "rack_claims", "server_shares.claims")
    allowed = ("costmodel.", "planner.model.", *(f"planner.fabrics.{each}" for each in claims))
    for path in Path("planner/fabrics").rglob("*claims.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith(("planner", "costmodel")):
                assert str(node.module).startswith(allowed), f"{path} imports {node.module}"
