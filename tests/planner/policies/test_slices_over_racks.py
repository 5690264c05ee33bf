"""Policies that cut slices where racks are joined: a job takes a slice in each of its racks."""

from collections.abc import Iterable
from itertools import combinations, product
from random import Random

import pytest

from costmodel.fabrics import links_of, racks_of
from planner.candidates.expand import expand
from planner.checks import check
from planner.fabrics.problem import Problem
from planner.model.cluster import Cluster
from planner.model.plan import Assignment
from planner.pipeline import solve
from planner.simulate.placers import PLACERS
from tests.oracles.brute_force_racks import _Racks
from tests.oracles.slices import boxes_of, subcubes_of
from tests.planner.fabrics.joined_racks.racks import KINDS, TRAINING, racks
from tests.planner.simulate.grounds import ground, mix, state_of

POLICIES = ("torus_slices", "bcube_slices")
LIGHT = {"servers": 4, "tiles_per_server": 1, "fibers": 8, "wavelengths_per_fiber": 16, "wavelengths_per_tile": 8}
"""racks of four servers of one tile, with more light than jobs ask for: slices and links alone decide"""
TILES = [f"r{rack}.s{server}.t0" for rack, server in product(range(3), range(4))]
SIZES = (2, 4, 8, 12)
"""whose parts are slices as they are, none of them rounded up"""
SLICES = {
    "torus_slices": {size: boxes_of((1, 2, 2), size) for size in (1, 2, 4)},
    "bcube_slices": {size: subcubes_of(2, 2, size) for size in (1, 2, 4)},
}
"""by the ranks that a job has in a rack"""


def _drawn(seed: int, **fabric: object) -> Problem:
    random = Random(seed)
    upper = KINDS[random.choice([*KINDS])]
    down = random.sample(TILES, random.choice((0, 0, 1, 2, 3))) if fabric else []
    sizes = [random.choice(SIZES if fabric else (1, 2, 4, 6, 8, 12)) for _ in range(random.randint(1, 4))]
    return expand(racks(upper, *sizes, health={"failed_tiles": down[1:], "failed_ports": down[:1]}, **fabric))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(12))
def test_each_job_has_the_most_that_slices_and_links_leave_it(policy: str, seed: int) -> None:
    """By all slices of all choices of racks, beside the jobs before it."""
    problem = _drawn(seed, **LIGHT)
    plan = solve(problem.instance, policy=policy).plan
    assert plan is not None
    assert check(problem.instance, plan) == []
    before = list[Assignment]()
    for options in problem.options:
        most: dict[tuple[int, int, int], float] = {}
        for row, value in enumerate(options.value.tolist()):
            asked = options.candidates.row_plans(row)[2]
            key = int(options.candidates.num_devices[row]), racks_of(asked), links_of(asked)
            most[key] = max(most.get(key, 0.0), value)
        worth = max((value for key, value in most.items() if _fits(problem, key, before, policy)), default=None)
        found = next((each for each in plan.assignments if each.job == options.job.name), None)
        assert (found and found.value) == (worth and pytest.approx(worth))
        before += [] if found is None else [found]


def _fits(problem: Problem, asked: tuple[int, int, int], before: list[Assignment], policy: str) -> bool:
    """Whether some racks have a slice each, and links between them, beside these jobs; ranks, racks and links asked."""
    cluster, (ranks, spread, number) = problem.cluster, asked
    taken = {name for each in before for name in each.devices}
    free = [name for name in TILES if name not in taken and _is_lit(name, cluster)]
    able = [rack for rack in range(3) if any(each <= _in_rack(free, rack) for each in SLICES[policy][ranks // spread])]
    links = _Racks(problem.instance)._has_links
    held = [(each.configuration.data_collective.links, _racks_of(each.devices)) for each in before]
    held = [each for each in held if len(each[1]) > 1]
    return any(spread == 1 or links([*held, (number, chosen)]) for chosen in combinations(able, spread))


def _is_lit(name: str, cluster: Cluster) -> bool:
    return name not in (*cluster.health.failed_tiles, *cluster.health.failed_ports)


def _in_rack(names: Iterable[str], rack: int) -> set[int]:
    """Numbers of devices in a rack."""
    return {int(name[len("r0.s")]) for name in names if name.startswith(f"r{rack}.")}


def _racks_of(names: Iterable[str]) -> tuple[int, ...]:
    return tuple(sorted({int(name[1]) for name in names}))


@pytest.mark.parametrize("seed", range(12))
def test_a_replay_takes_the_same_places(seed: int) -> None:
    """With little light, and sizes that slices round up."""
    problem, policy = _drawn(seed), POLICIES[seed % 2]
    planned = solve(problem.instance, policy=policy).plan
    assert planned is not None
    assert check(problem.instance, planned) == []
    workload = mix().workloads[0].model_validate({"name": "w", "workload": TRAINING})
    sizes = [each.job.sizes[-1] for each in problem.options]
    kinds = ground("g", problem.cluster, sorted({*sizes}), mix().model_copy(update={"workloads": (workload,)})).kinds
    placer = PLACERS[policy](state_of(problem.cluster), 0)
    placements = [(f"j{j}", placer.place(kinds[0, size])) for j, size in enumerate(sizes)]
    name = problem.cluster.fabric.device_name
    found = [(job, tuple(name(*device) for device in each.devices)) for job, each in placements if each is not None]
    assert found == [(each.job, each.devices) for each in planned.assignments]


def test_a_rack_without_light_is_passed_over() -> None:
    """A failed fiber takes the light of the first rack; the job lies in the two others."""
    dark = {"failed_fibers": [{"from": "r0.s0", "to": "r0.s1", "index": 0}]}
    for policy in POLICIES:
        plan = solve(racks(KINDS["packets"], 8, health=dark), policy=policy).plan
        assert plan is not None
        assert _racks_of(plan["j0"].devices) == (1, 2)


def test_many_racks_that_no_links_join_end_the_search() -> None:
    """Of thirty racks each is joined to the next in one direction alone, which carries no job."""
    ring = [{"from": f"r{rack}", "to": f"r{(rack + 1) % 30}", "count": 1} for rack in range(30)]
    instance = racks(KINDS["fibers"] | {"fibers": ring}, 8, racks=30)
    plan = solve(instance, policy="bcube_slices").plan
    assert plan is not None
    assert plan.assignments == ()
