"""A reservation is the first place that the policy finds, were it asked each time that a job leaves."""

from random import Random

import pytest

from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass
from planner.fabrics.placement import Placement
from planner.model.cluster import Cluster
from planner.simulate.placer import Placer
from planner.simulate.placers import PLACERS
from planner.simulate.reserve import reserve
from planner.simulate.runs import Run
from tests.planner.simulate.grounds import FABRICS, come_and_go, ground, state_of

SIZES = [1, 2, 4, 8, 16]
POLICIES = dict.fromkeys(FABRICS, ("first_fit", "best_fit", "server_aligned", "random_fit"))
POLICIES["sipam"] += ("sipam_loop",)
POLICIES["torus"] += ("torus_slices", "rfold")
POLICIES["fat_tree"] += ("torus_slices",)
POLICIES["lightpath"] += ("bcube_slices",)


def asked_each_time(kind: JobClass, placer: Placer, runs: list[Run]) -> tuple[float, Placement] | None:
    """The same by hand: jobs leave one by one, and those that end at one time before anybody is asked."""
    state, found = placer.state, None
    for number, run in enumerate(runs):
        state.release(run.placement)
        if number + 1 < len(runs) and runs[number + 1].end_s == run.end_s:
            continue
        placement = placer.look(kind) if kind.held <= state.num_free else None
        if placement is not None:
            found = run.end_s, placement
            break
    for run in runs[: number + 1]:
        state.take(run.placement)
    return found


def free_of(state: FreeState) -> tuple[object, ...]:
    return [*state.free], [*state.lit], state.num_free, {part: mask for part, mask in state.taken.items() if mask}


@pytest.mark.parametrize(("fabric", "policy"), [(fabric, each) for fabric in FABRICS for each in POLICIES[fabric]])
@pytest.mark.parametrize("racks", [1, 2])
def test_a_reservation_is_the_first_place_that_the_policy_finds(fabric: str, policy: str, racks: int) -> None:
    given = FABRICS[fabric] | {"servers": FABRICS[fabric]["servers"] // racks, "racks": racks}
    name = Cluster.model_validate({"device": "h100-sxm", "fabric": given}).fabric.device_name
    health = {"failed_tiles": [name(0, 1)], "failed_ports": [name(1, 3)]}
    of = Cluster.model_validate({"device": "h100-sxm", "fabric": given, "health": health})
    site, random, num_found = ground("g", of, SIZES), Random(racks), 0
    make = PLACERS[policy]
    placer = make(state_of(of), 7)
    for running in come_and_go(placer.state, placer, site, SIZES, random, 40, 0.8):
        runs = [Run(0, site.kinds[0, 1], each, end_s=random.randrange(1, 9)) for each in running]
        runs.sort(key=lambda run: run.end_s)
        kind, before = site.kinds[0, random.choice(SIZES)], free_of(placer.state)
        if not runs or not kind.rows:
            continue
        expected = asked_each_time(kind, make(placer.state.copy(), 7), runs)
        asked = placer if placer.is_fixed else make(placer.state.copy(), 7)
        found = reserve(0, kind, asked, runs)
        assert (None if found is None else (found.time_s, found.placement)) == expected
        assert free_of(asked.state) == before
        num_found += found is not None
    assert num_found
