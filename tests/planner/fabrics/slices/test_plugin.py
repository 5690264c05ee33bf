"""Jobs on slices: solves against exhaustive search, residents, step 2, policies and what messages say."""

from itertools import product
from math import prod
from random import Random
from typing import Any

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.fabrics.slices.free_slices import as_before
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.result import Status
from planner.pipeline import solve
from tests.planner.fabrics.slices.clusters import (
    CUBES,
    MIXTURE,
    OPTIONS,
    SERVING,
    SHIFTING,
    SIPAC,
    TORUS,
    TWISTING,
    Fields,
    job,
    sliced,
    tiny,
)
from tests.planner.fabrics.slices.plugin_cases import Places, box_of, parts_in


def best_value(instance: Instance) -> float:
    """Most value of any plan, by trying all slices for all rows of all jobs."""
    problem = expand(instance, prune=False)
    rows: list[list[tuple[float, tuple[int, ...], int, int]]] = []
    for options in problem.options:
        best: dict[tuple[tuple[int, ...], int, int], float] = {}
        for row in range(len(options)):
            configuration = options.candidates.configuration(row)
            box = box_of(instance, configuration)
            parts = configuration.num_devices // prod(box)
            together = max(1, configuration.block // prod(box))
            key = box, parts, together
            best[key] = max(best.get(key, 0.0), float(options.value[row]))
        rows.append([(value, *key) for key, value in best.items()] + [(0.0, (), 0, 1)])
    combinations = sorted(product(*rows), key=lambda c: -sum(choice[0] for choice in c))
    places: dict[tuple[int, ...], Places] = {}
    for combination in combinations:
        sizes = sum(prod(box) * parts for _, box, parts, _ in combination)
        if sizes <= instance.cluster.num_healthy and _fits(instance, places, [*combination], frozenset()):
            return sum(choice[0] for choice in combination)
    raise AssertionError("nothing at all is a plan")


def _fits(instance: Instance, known: dict[tuple[int, ...], Places], choices: list[Any], used: frozenset[Any]) -> bool:
    """Whether all parts find a place, those of one block on one server."""
    choices = [choice for choice in choices if choice[2]]
    if not choices:
        return True
    (value, box, parts, together), *rest = sorted(choices, key=lambda c: -prod(c[1]))
    if prod(box) == 1:
        free = [d for d in parts_in(instance, (1, 1, 1) if box else box) if not d & used]
        return len(free) >= sum(c[2] for c in choices) and all(c[3] == 1 for c in choices)
    if box not in known:
        known[box] = parts_in(instance, box)
    for place in known[box]:
        if place & used:
            continue
        if together == 1:
            if _fits(instance, known, [(value, box, parts - 1, 1), *rest], used | place):
                return True
            continue
        (server,) = {server for server, _ in place}
        others = [p for p in known[box] if not p & (used | place) and {s for s, _ in p} == {server}]
        for other in others:
            if _fits(instance, known, [(value, box, parts - 2, together), *rest], used | place | other):
                return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_value_is_that_of_exhaustive_search(seed: int) -> None:
    instance = tiny(seed)
    result = solve(instance, options=OPTIONS)
    assert result.status is Status.OPTIMAL
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    assert result.levels[0].value == pytest.approx(best_value(instance), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_value_with_twisted_and_shifted_tori_is_that_of_exhaustive_search(seed: int) -> None:
    rng = Random(seed)
    some = ([8, 16, 32], [16], [16, 32], [8, 24])
    jobs = [job(f"j{k}", rng.choice(some), MIXTURE, weight=rng.choice((1, 2, 3))) for k in range(3)]
    lost = {"failed_tiles": ["s2.c5"], "failed_switches": rng.sample(["x0", "y3"], rng.choice((0, 1)))}
    fabric = TWISTING | {"switches": TWISTING["switches"] | SHIFTING["switches"]}
    instance = sliced(fabric, *jobs, health=rng.choice(({}, lost)), objectives=["value"])
    result = solve(instance, options=OPTIONS)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(best_value(instance), rel=1e-6)
    assert result.plan is not None
    assert check(instance, result.plan) == []


def test_slices_that_stay_keep_their_parts() -> None:
    now = [(0, (0, 1)), (2, (4, 5)), (1, (2, 3))]
    assert as_before([(1, (2, 3)), (3, (0, 1)), (0, (0, 1))], now) == [(0, (0, 1)), (3, (0, 1)), (1, (2, 3))]


POLICIES = ("first_fit", "best_fit", "server_aligned", "random_fit")


@pytest.mark.slow
@pytest.mark.parametrize("fabric", [TORUS, CUBES, SIPAC], ids=["torus", "cubes", "sipac"])
def test_heuristics_give_good_plans(fabric: Fields) -> None:
    sizes = [2, 4, 8, 16] if fabric is SIPAC else [2, 3, 8]
    instance = sliced(fabric, job("a", sizes), job("b", [2, 4], SERVING), job("c", 1))
    own = "bcube_slices" if fabric is SIPAC else "torus_slices"
    for policy in (*POLICIES, own):
        plan = solve(instance, policy=policy).plan
        assert plan is not None
        assert plan.admitted
        assert check(instance, plan, starts=True) == []
    other = "torus_slices" if fabric is SIPAC else "bcube_slices"
    with pytest.raises(InputError, match="a torus has its own torus_slices, a sipac its own bcube_slices"):
        solve(instance, policy=other)


def test_fragmentation_is_not_defined() -> None:
    instance = sliced(TORUS, job("a", 2))
    assert [objective.name for objective in instance.objectives] == ["value", "moves", "energy"]
    with pytest.raises(InputError, match="fragmentation is not defined on a torus; leave it out"):
        sliced(TORUS, job("a", 2), objectives=["value", "fragmentation"])
