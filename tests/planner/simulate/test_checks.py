"""States of a replay as plans: the independent checks accept them at any moment."""

from bisect import insort
from random import Random

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.cpsat.solve import plan_of
from planner.fabrics.free_state import FreeState
from planner.fabrics.ocs_rail.rails import FreeRails
from planner.fabrics.placement import Placement
from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.free_pool import FreePool, by_server
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment
from planner.simulate.placers import PLACERS
from tests.planner.simulate.grounds import BERT, CHAT, FABRICS, cluster, ground, state_of

SIZES = [1, 2, 4, 8, 16]
STEPS = 120
CHECKED = 2
"""moments that are turned into plans"""


class _Mirror:
    """Plans of placements, named by the planner's own code beside the replay."""

    def __init__(self, state: FreeState) -> None:
        self._cluster = state.cluster
        self._pool = FreePool(state.cluster) if state.has_pool else None
        self.running: list[tuple[Placement, Assignment, int, int]] = []

    def start(self, placement: Placement, number: int, size: int) -> None:
        """A job of a workload and a size runs."""
        fabric, row = self._cluster.fabric, placement.row
        names = [fabric.device_name(*device) for device in placement.devices]
        wiring = ((), ())
        if self._pool is not None:
            free = _free(self._pool)
            wires = self._pool.wires(PoolDemand.of(row.shape), by_server(placement.devices))
            assert wires is not None
            found = self._pool.commit(row.shape, placement.devices, *wires)
            assert placement.owned is not None
            taken = {part: mask & ~_free(self._pool)[part] for part, mask in free.items()}
            assert {part: mask for part, mask in taken.items() if mask} == dict(placement.owned.masks)
            wiring = found
        elif row.shape.chooses_servers:
            wiring = FreeRails(self._cluster).circuits(row.shape, placement.devices), ()
        self.running.append((placement, row.options.assignment(row.number, names, *wiring), number, size))

    def stop(self, place: int) -> Placement:
        """A job leaves."""
        placement = self.running.pop(place)[0]
        if self._pool is not None and placement.owned is not None:
            for part, mask in placement.owned.masks:
                for index in (i for i in range(mask.bit_length()) if mask >> i & 1):
                    insort(_lists(self._pool)[part], index)
        return placement

    def require_sound(self) -> None:
        """The checks find nothing against what runs now."""
        workloads = (BERT, CHAT)
        jobs = tuple(
            Job(name=f"j{i}", workload=workloads[number], accelerators=size)  # type: ignore[arg-type]
            for i, (_, _, number, size) in enumerate(self.running)
        )
        instance = Instance(schema_version=1, name="i", cluster=self._cluster, jobs=jobs)
        named = [a.model_copy(update={"job": f"j{i}"}) for i, (_, a, *_) in enumerate(self.running)]
        assert check(instance, plan_of(expand(instance), named), starts=True) == []


def _lists(pool: FreePool) -> dict[tuple[object, ...], list[int]]:
    """Free numbers by part, as `PoolParts` names these."""
    found: dict[tuple[object, ...], list[int]] = {}
    for server, rack in enumerate(pool.racks):
        found |= {("unit", server, tray, 0): free for tray, free in enumerate(rack.units)}
        found |= {("uplink", server, rail, 0): free for rail, free in rack.uplinks.items()}
        for rail, trays in rack.ports.items():
            found |= {("port", server, tray, rail): free for tray, free in enumerate(trays)}
    return found


def _free(pool: FreePool) -> dict[tuple[object, ...], int]:
    return {part: sum(1 << number for number in free) for part, free in _lists(pool).items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fabric", "policy"),
    [
        *(("sipam", policy) for policy in ("first_fit", "best_fit", "sipam_loop", "random_fit")),
        ("ocs_rail", "first_fit"),
        ("fat_tree", "first_fit"),
    ],
)
def test_what_runs_is_a_plan_at_any_moment(fabric: str, policy: str) -> None:
    health = {"failed_tiles": [f"s1.{cluster(fabric).fabric.device_letter}2"]}
    if fabric == "sipam":
        health |= {"failed_memory_units": ["s0.m0.u3"], "failed_switches": ["s2.q1", "q9"]}
    if fabric == "ocs_rail":
        health |= {"failed_switches": ["q2#1"]}
    of = Cluster.model_validate({"device": "h100-sxm", "fabric": FABRICS[fabric], "health": health})
    kinds, state, random = ground("g", of, SIZES).kinds, state_of(of), Random(3)
    placer, mirror = PLACERS[policy](state, 0), _Mirror(state)
    checked = 0
    for step in range(STEPS):
        number, size = random.choice(list(kinds))
        placement = placer.place(kinds[number, size]) if random.random() < 0.65 else None
        if placement is not None:
            mirror.start(placement, number, size)
        elif mirror.running:
            state.release(mirror.stop(random.randrange(len(mirror.running))))
        if step % 10 == 9 and step > 40 and checked < CHECKED and len(mirror.running) > 1:
            mirror.require_sound()
            checked += 1
    assert checked == CHECKED
