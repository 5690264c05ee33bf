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
    BOARDS,
    CUBES,
    MIXTURE,
    OPTIONS,
    SERVING,
    SHAPE,
    SHIFTING,
    SIPAC,
    TORUS,
    TRAINING,
    TWISTING,
    Fields,
    job,
    sliced,
    tiny,
)
from tests.planner.fabrics.slices.plugin_cases import Places, box_of, parts_by_light, parts_in, widths_of

Shape = tuple[tuple[int, ...], tuple[int, ...]]
"""extents of a box, and wavelengths of its links along each axis, none on a plain torus"""


def best_value(instance: Instance) -> float:
    """Most value of any plan, by trying all slices for all rows of all jobs."""
    problem = expand(instance, prune=False)
    rows: list[list[tuple[float, Shape, int, int]]] = []
    for options in problem.options:
        best: dict[tuple[Shape, int, int], float] = {}
        for row in range(len(options)):
            configuration = options.candidates.configuration(row)
            box = box_of(instance, configuration)
            parts = configuration.num_devices // prod(box)
            together = max(1, configuration.block // prod(box))
            key = (box, widths_of(configuration)), parts, together
            best[key] = max(best.get(key, 0.0), float(options.value[row]))
        rows.append([(value, *key) for key, value in best.items()] + [(0.0, ((), ()), 0, 1)])
    combinations = sorted(product(*rows), key=lambda c: -sum(choice[0] for choice in c))
    places: dict[Shape, Places] = {}
    for combination in combinations:
        sizes = sum(prod(box) * parts for _, (box, _), parts, _ in combination)
        if sizes <= instance.cluster.num_healthy and _fits(instance, places, [*combination], frozenset()):
            return sum(choice[0] for choice in combination)
    raise AssertionError("nothing at all is a plan")


def _fits(instance: Instance, known: dict[Shape, Places], choices: list[Any], used: frozenset[Any]) -> bool:
    """Whether all parts find a place, those of one block on one server."""
    choices = [choice for choice in choices if choice[2]]
    if not choices:
        return True
    (value, shape, parts, together), *rest = sorted(choices, key=lambda c: -prod(c[1][0]))
    box, widths = shape
    if prod(box) == 1:
        free = [d for d in parts_in(instance, (1, 1, 1) if box else box) if not d & used]
        return len(free) >= sum(c[2] for c in choices) and all(c[3] == 1 for c in choices)
    if shape not in known:
        known[shape] = parts_by_light(instance, box, widths) if widths else parts_in(instance, box)
    for place in known[shape]:
        if place & used:
            continue
        if together == 1:
            if _fits(instance, known, [(value, shape, parts - 1, 1), *rest], used | place):
                return True
            continue
        (server,) = {server for server, _ in place}
        others = [p for p in known[shape] if not p & (used | place) and {s for s, _ in p} == {server}]
        for other in others:
            if _fits(instance, known, [(value, shape, parts - 2, together), *rest], used | place | other):
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


@pytest.mark.parametrize("seed", range(4))
def test_value_with_light_of_boards_is_that_of_exhaustive_search(seed: int) -> None:
    """Four boards on two servers: a slice across two boards keeps the links of a plain torus."""
    rng = Random(seed)
    some = ([2, 4], [4], [2, 3, 6], [2, 8], [4, 8])
    busy = TRAINING | {"model": SHAPE | {"hidden": 1024, "heads": 16, "kv_heads": 16, "head_dim": 64, "ffn": 2048}}
    jobs = [job(f"j{k}", rng.choice(some), busy, weight=rng.choice((1, 2, 3))) for k in range(3)]
    health = {"failed_tiles": rng.sample(["s0.c1", "s1.c4", "s1.c6"], rng.choice((0, 1, 2)))}
    more = {"wavelengths_per_link": rng.choice((1, 2)), "wavelengths_per_fiber": rng.choice((2, 3))}
    instance = sliced(BOARDS | {"boards": BOARDS["boards"] | more}, *jobs, health=health, objectives=["value"])
    result = solve(instance, options=OPTIONS)
    assert result.status is Status.OPTIMAL
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    assert result.objective == pytest.approx(best_value(instance), rel=1e-6)
    assert {widths_of(each.configuration) for each in result.plan.assignments} - {()}


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
