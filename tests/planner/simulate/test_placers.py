"""The free state by number places as the planner does, and forgets what is given back."""

from collections import Counter
from math import prod
from random import Random

import pytest

from costmodel.fabrics import SlicedFabric
from planner.candidates.expand import expand
from planner.checks import check
from planner.controller.job_classes import JobClasses
from planner.cpsat.solve import plan_of
from planner.fabrics.free_state import FreeState
from planner.fabrics.ocs_rail.rails import FreeRails
from planner.fabrics.placement import Placement
from planner.fabrics.problem import Problem
from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.free_pool import FreePool, by_server
from planner.fabrics.sipam.server_bits import ServerBits
from planner.fabrics.slices.free_slices import slice_circuits
from planner.heuristics.greedy import place_all
from planner.heuristics.strategies import in_order, tightest
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.masks import numbers_of
from planner.model.plan import Assignment
from planner.model.result import SolveOptions
from planner.policies.bcube_slices import bcube_cut
from planner.policies.server_aligned import server_aligned
from planner.policies.sipam_loop import place_by_loop
from planner.policies.slices import place_on_slices
from planner.policies.torus_slices import torus_cut
from planner.simulate.placers import PLACERS
from tests.planner.simulate.grounds import BERT, CHAT, FABRICS, cluster, come_and_go, ground, state_of

SIZES = [1, 2, 4, 8, 16]
EVEN = {"fat_tree": (1, 2, 4), "lightpath": (1, 2, 4), "ocs_rail": (1, 2, 4), "torus": (1, 2, 8), "sipac": (1, 2, 4)}
SLICES = {"torus_slices": torus_cut, "bcube_slices": bcube_cut}


def _sizes(seed: int) -> list[int]:
    random = Random(seed)
    return [random.choice(SIZES) for _ in range(random.randint(4, 14))]


def _planned(policy: str, problem: Problem) -> list[tuple[str, frozenset[str]]]:
    if policy in SLICES:
        found = place_on_slices(problem, SLICES[policy])
    elif policy == "sipam_loop":
        found = place_by_loop(problem)
    elif policy == "server_aligned":
        plan = server_aligned(problem, SolveOptions()).plan
        found = None if plan is None else list(plan.assignments)
    else:
        found = place_all(problem, in_order if policy == "first_fit" else tightest)
    assert found is not None
    return [(assignment.job, frozenset(assignment.devices)) for assignment in found]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("fabric", "policy"),
    [
        *((fabric, policy) for fabric in FABRICS for policy in ("first_fit", "best_fit", "server_aligned")),
        *((fabric, policy) for fabric in ("fat_tree", "lightpath") for policy in SLICES),
        ("sipam", "sipam_loop"),
    ],
)
def test_places_are_those_of_the_planner(fabric: str, policy: str, seed: int) -> None:
    """Jobs one after the other on an empty cluster, parts of which have failed."""
    letter = cluster(fabric).fabric.device_letter
    health = {"failed_tiles": [f"s{seed % 4}.{letter}1"], "failed_ports": [f"s{(seed + 1) % 4}.{letter}3"]}
    of = cluster(fabric).model_validate({"device": "h100-sxm", "fabric": FABRICS[fabric], "health": health})
    sizes = _sizes(seed)
    jobs = tuple(Job(name=f"j{i}", workload=BERT, accelerators=size) for i, size in enumerate(sizes))  # type: ignore[arg-type]
    problem = expand(Instance(schema_version=2, name="i", cluster=of, jobs=jobs))
    state, kinds = state_of(of), ground("g", of, SIZES).kinds
    placer = PLACERS[policy](state, 0)
    found = []
    for i, size in enumerate(sizes):
        placement = placer.place(kinds[0, size])
        if placement is not None:
            found.append((f"j{i}", frozenset(of.fabric.device_name(*device) for device in placement.devices)))
    assert found == _planned(policy, problem)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("fabric", "policy"),
    [
        *((fabric, policy) for fabric in EVEN for policy in ("first_fit", "best_fit", "server_aligned")),
        *((fabric, policy) for fabric in ("fat_tree", "lightpath") for policy in SLICES),
    ],
)
def test_places_of_jobs_that_ask_for_as_many_of_each_server(fabric: str, policy: str, seed: int) -> None:
    """Those of the planner; other jobs stand between them."""
    of, random = cluster(fabric), Random(seed)
    jobs = []
    for i, size in enumerate(_sizes(seed)):
        each = random.choice([n for n in EVEN[fabric] if n <= size])
        asked = {"per_server": each} if random.random() < 0.7 else {}
        jobs.append(Job.model_validate({"name": f"j{i}", "workload": BERT, "accelerators": size, "constraints": asked}))
    state, kinds = state_of(of), JobClasses(of, 1e9, set, str)
    problem = expand(Instance(schema_version=2, name="i", cluster=of, jobs=tuple(jobs)))
    runnable = [job for job, options in zip(jobs, problem.options, strict=True) if len(options)]
    placer, found = PLACERS[policy](state, 0), []
    for job in runnable:
        placement = placer.place(kinds[kinds.expand(job)])
        if placement is not None:
            found.append((job.name, frozenset(of.fabric.device_name(*device) for device in placement.devices)))
            given = Counter(server for server, _ in placement.devices)
            assert set(given.values()) == {job.constraints.per_server} or job.constraints.per_server is None
    assert found == _planned(policy, problem)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fabric", "policy"),
    [
        *((fabric, policy) for fabric in FABRICS for policy in ("first_fit", "best_fit")),
        *((fabric, "torus_slices") for fabric in ("fat_tree", "lightpath", "torus")),
        ("sipam", "sipam_loop"),
    ],
)
def test_what_is_given_back_is_free_again(fabric: str, policy: str) -> None:
    of = cluster(fabric)
    site = ground("g", of, SIZES)
    kinds = site.kinds
    state = state_of(of)
    placer, random = PLACERS[policy](state, 0), Random(5)
    alone = [_where(placer.place(kinds[0, size])) for size in SIZES]
    state = state_of(of)
    placer, running = PLACERS[policy](state, 0), list[Placement]()
    for running in come_and_go(state, placer, site, SIZES, random, 400, 0.6):
        held = [device for each in running for device in each.held]
        assert len(set(held)) == len(held) == 32 - state.num_free
        assert _light(running) == {guide: mask for guide, mask in state.taken.items() if mask}
    for placement in running:
        state.release(placement)
    assert state.num_free == 32
    assert [_where(placer.place(kinds[0, size])) for size in SIZES] == alone


@pytest.mark.parametrize("fabric", ["fat_tree", "lightpath"])
@pytest.mark.parametrize("policy", SLICES)
def test_slices_are_those_that_a_new_placer_finds(fabric: str, policy: str) -> None:
    """Whatever was looked for before, in two racks of two servers."""
    of = cluster(fabric, servers=2, racks=2)
    site, state, random = ground("g", of, SIZES), state_of(of), Random(3)
    placer, refused = PLACERS[policy](state, 0), 0
    for running in come_and_go(state, placer, site, SIZES, random, 60, 0.7):
        new = PLACERS[policy](state, 0)
        del state.taken_hooks[1:]
        for size in SIZES:
            found, known = new.look(site.kinds[0, size]), placer.look(site.kinds[0, size])
            assert found == known
            refused += found is None and size <= state.num_free
        if running:
            state.release(running[0])
            assert _where(placer.look(site.kinds[0, 1])) == _where(PLACERS[policy](state, 0).look(site.kinds[0, 1]))
            del state.taken_hooks[1:]
            state.take(running[0])
    assert refused


def _where(placement: Placement | None) -> frozenset[tuple[int, int]] | None:
    return None if placement is None else frozenset(placement.devices)


def _light(running: list[Placement]) -> dict[object, int]:
    """Light of all jobs; no wavelength of a fiber is two jobs'."""
    taken: dict[object, int] = {}
    for placement in running:
        for guide, mask in placement.owned.masks if placement.owned is not None else ():
            assert not taken.get(guide, 0) & mask
            taken[guide] = taken.get(guide, 0) | mask
    return taken


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{"waveguides": "shared"}, {"transit": 1}])
def test_light_is_exact_where_slots_or_crossings_matter(changes: dict[str, object]) -> None:
    of = cluster("lightpath", **changes)
    kinds, state = ground("g", of, SIZES).kinds, state_of(of)
    placer = PLACERS["first_fit"](state, 0)
    running = [placement for size in (2, 4, 16, 4, 2) if (placement := placer.place(kinds[0, size])) is not None]
    assert _light(running) == {guide: mask for guide, mask in state.taken.items() if mask} != {}


STEPS = 120
CHECKED = 2
"""moments that are turned into plans"""
BOARDS = FABRICS["torus"] | {"sides": [4, 2, 2], "servers": 2, "boards": {"sides": [2, 2, 1]}}
"""a slice that is shorter than a server lies on one board, or has the links of a plain torus"""


class _Mirror:
    """Plans of placements, named by the planner's own code beside the replay."""

    def __init__(self, state: FreeState) -> None:
        self._cluster = state.cluster
        self._pool = FreePool(state.cluster) if state.has_pool else None
        self._bits = ServerBits(self._pool.fabric) if self._pool is not None else None
        self.running: list[tuple[Placement, Assignment, int]] = []

    def start(self, placement: Placement, number: int) -> None:
        """A job of a workload runs."""
        fabric, row = self._cluster.fabric, placement.row
        names = [fabric.device_name(*device) for device in placement.devices]
        wiring = ((), ())
        if self._pool is not None:
            free = _free(self._pool, self._bits)
            wires = self._pool.wires(PoolDemand.of(row.shape), by_server(placement.devices))
            assert wires is not None
            found = self._pool.commit(row.shape, placement.devices, *wires)
            assert placement.owned is not None
            taken = {part: mask & ~_free(self._pool, self._bits)[part] for part, mask in free.items()}
            assert {part: mask for part, mask in taken.items() if mask} == dict(placement.owned.masks)
            wiring = found
        elif row.shape.chooses_servers:
            wiring = FreeRails(self._cluster).circuits(row.shape, placement.devices), ()
        elif row.shape.cut:
            assert isinstance(fabric, SlicedFabric)
            plans, size = row.options.candidates.row_plans(row.number), prod(row.shape.cut)
            slices = [placement.devices[first : first + size] for first in range(0, len(names), size)]
            held = [(each[0][0], tuple(slot for _, slot in each)) for each in slices]
            names = [fabric.device_name(*device) for device in fabric.layout(plans, held)]
            wiring = slice_circuits(fabric, plans, held), ()
        self.running.append((placement, row.options.assignment(row.number, names, *wiring), number))

    def stop(self, place: int) -> Placement:
        """A job leaves."""
        placement = self.running.pop(place)[0]
        if self._pool is not None and placement.owned is not None:
            for server, mask in placement.owned.masks:
                for field, free in self._bits.lists(self._pool.racks[server]):
                    free[:] = sorted([*free, *numbers_of((mask & field.mask) >> field.first)])
        return placement

    def require_sound(self) -> None:
        """The checks find nothing against what runs now."""
        workloads = (BERT, CHAT)
        jobs = tuple(
            Job(name=f"j{i}", workload=workloads[number], accelerators=len(a.devices))  # type: ignore[arg-type]
            for i, (_, a, number) in enumerate(self.running)
        )
        instance = Instance(schema_version=2, name="i", cluster=self._cluster, jobs=jobs)
        named = [a.model_copy(update={"job": f"j{i}"}) for i, (_, a, *_) in enumerate(self.running)]
        assert check(instance, plan_of(expand(instance), named), starts=True) == []


def _free(pool: FreePool, bits: ServerBits) -> dict[int, int]:
    return {server: bits.free_of(rack) for server, rack in enumerate(pool.racks)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fabric", "policy"),
    [
        *(("sipam", policy) for policy in ("first_fit", "best_fit", "sipam_loop", "random_fit")),
        ("ocs_rail", "first_fit"),
        ("fat_tree", "first_fit"),
        *(("boards", policy) for policy in ("first_fit", "torus_slices")),
    ],
)
def test_what_runs_is_a_plan_at_any_moment(fabric: str, policy: str) -> None:
    fields = BOARDS if fabric == "boards" else FABRICS[fabric]
    health = {"failed_tiles": [f"s1.{cluster(fields['kind']).fabric.device_letter}2"]}
    if fabric == "sipam":
        health |= {"failed_memory_units": ["s0.m0.u3"], "failed_switches": ["s2.q1", "q9"]}
    if fabric == "ocs_rail":
        health |= {"failed_switches": ["q2#1"]}
    of = Cluster.model_validate({"device": "h100-sxm", "fabric": fields, "health": health})
    kinds, state, random = ground("g", of, SIZES).kinds, state_of(of), Random(3)
    placer, mirror = PLACERS[policy](state, 0), _Mirror(state)
    checked = 0
    for step in range(STEPS):
        number, size = random.choice(list(kinds))
        placement = placer.place(kinds[number, size]) if random.random() < 0.65 else None
        if placement is not None:
            mirror.start(placement, number)
        elif mirror.running:
            state.release(mirror.stop(random.randrange(len(mirror.running))))
        if step % 10 == 9 and step > 40 and checked < CHECKED and len(mirror.running) > 1:
            mirror.require_sound()
            checked += 1
    assert checked == CHECKED
