"""Replays on racks that are joined: every moment is held to a count of its own, and every start to the checker."""

from typing import Any

import pytest

from planner.checks import check
from planner.fabrics import plugin_of
from planner.fabrics.free_state import FreeState
from planner.fabrics.placement import Owned, Placement
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Plan
from planner.placement.job_classes import Site
from planner.placement.placement import Place
from planner.simulate.events import Simulation
from planner.simulate.log import Log
from planner.simulate.outages import Outages
from planner.simulate.placers import placer_of
from planner.simulate.recovery import Recovery, Response
from planner.simulate.rules import Rules
from planner.simulate.runs import Jobs
from planner.whatif.failure_model import FailureModel
from tests.planner.fabrics.joined_racks.links_in_use import faults
from tests.planner.fabrics.joined_racks.racks import FABRICS, KINDS, TRAINING
from tests.planner.simulate.grounds import SMALL_DEMAND, ground, mix

SIZES = [1, 2, 4, 6, 8, 12, 16, 24]
PARTS = {kind: {"time_between_failures": "5 h", "repair_time": "10 min"} for kind in ("tile", "fiber", "rack_link")}


class _Judged:
    """A simulation whose every moment is looked at."""

    def __init__(self, of: Site, upper: dict[str, Any], jobs: Jobs, policy: str, response: Response | None) -> None:
        self.upper, self.spread, self.most_racks, self.named = upper, 0, 0, 0
        self._of, self._namer = of, plugin_of(of.cluster.fabric).circuit_namer()
        outages = Outages(of.cluster, FailureModel.model_validate(PARTS), jobs.arrival_s[-1], 1) if response else None
        recovery = Recovery(response, 0) if response else None
        self.log = Log(len(jobs), 0.0, jobs.arrival_s[-1])
        self.simulation = Simulation(
            jobs, placer_of(policy, 0), FreeState.empty(of.cluster), Rules(), self.log, outages=outages,
            recovery=recovery,
        )  # fmt: skip
        runs, start = self.simulation.runs, self.simulation.runs.start
        advance = self.simulation._advance

        def started(job: int, placement: Placement, now_s: float, downtime_s: float) -> None:
            start(job, placement, now_s, downtime_s)
            self._check(self.simulation.state, runs.running[job].placement)

        def advanced(now_s: float) -> None:
            self._look()
            advance(now_s)

        runs.start, self.simulation._advance = started, advanced  # type: ignore[method-assign]

    def _look(self) -> None:
        placements = [run.placement for run in self.simulation.runs.running.values()]
        state = self.simulation.state
        assert not faults(state.cluster, self.upper, placements)
        again = FreeState.empty(state.cluster)
        for placement in placements:
            again.take(placement)
        assert again.free == state.free
        assert again.links is not None
        assert state.links is not None
        assert (again.links.free, again.links.taken) == (state.links.free, state.links.taken)
        self.spread = max(self.spread, sum(placement.row.shape.racks > 1 for placement in placements))
        self.most_racks = max([self.most_racks, *(placement.row.shape.racks for placement in placements)])

    def _check(self, state: FreeState, placement: Placement) -> None:
        """Its circuits by name, alone on the cluster, break no rule; by name it holds what it holds by number."""
        twin = state.copy()
        named = self._namer.name(twin, placement)
        if named is None:
            return
        self.named += 1
        exact, wiring = named
        links = exact.links
        place = Place("kind", exact.row, exact.devices, wiring, () if links is None else links.circuits)
        options = exact.row.options
        job = Job(name="j", workload=options.job.workload, accelerators=options.job.accelerators)
        instance = Instance(schema_version=2, name="alone", cluster=state.cluster, jobs=(job,))
        assignment = place.assignment(job)
        switches = plugin_of(state.cluster.fabric).switch_setting(instance, (assignment,))
        plan = Plan(instance="alone", assignments=(assignment,), switches=switches)
        assert not [each for each in check(instance, plan) if each.rule not in ("claims", "admission")]
        back = self._namer.placement(twin, exact.row, exact.devices, wiring, place.circuits, place.upper)
        assert back.links == exact.links
        assert back.switches == exact.switches
        light, again = (each.owned or Owned(()) for each in (exact, back))
        assert (dict(light.masks), light.ends) == (dict(again.masks), again.ends)


def _judged(fabric: str, kind: str, policy: str, response: Response | None, number: int = 30) -> _Judged:
    upper = KINDS[kind]
    cluster = Cluster.model_validate({"device": "h100-sxm", "fabric": FABRICS[fabric] | {"upper": upper}})
    workloads = mix().model_copy(update={"workloads": mix().workloads[:1]})
    workload = workloads.workloads[0].model_validate({"name": "w", "workload": TRAINING})
    of = ground("g", cluster, SIZES, workloads.model_copy(update={"workloads": (workload,)}))
    sizes = [size for size in SIZES if of.kinds[0, size].rows]
    drawn = SMALL_DEMAND.draw(number, 3).at_load(1.0, of.capacity)
    picked = [sizes[int(each * 7919) % len(sizes)] for each in drawn.arrival_s.tolist()]
    jobs = Jobs(
        drawn.arrival_s.tolist(), drawn.duration_s.tolist(), [of.kinds[0, size] for size in picked],
        [sizes.index(size) for size in picked], [0] * len(picked), sizes,
    )  # fmt: skip
    judged = _Judged(of, upper, jobs, policy, response)
    judged.simulation.run()
    return judged


EVERY = [(fabric, kind) for fabric in FABRICS for kind in KINDS if fabric != "sipam" or kind == "fibers"]
"""pools take longest, and what joins them is what joins others"""


@pytest.mark.parametrize(("fabric", "kind"), EVERY)
def test_nobody_holds_the_same_and_every_start_obeys_the_rules(fabric: str, kind: str) -> None:
    judged = _judged(fabric, kind, "best_fit", None)
    assert judged.spread > 0
    assert judged.most_racks == 3
    assert judged.named > 15
    assert judged.log.never_fit == 0
    assert judged.simulation.state.num_free == judged.simulation.state.cluster.fabric.num_devices


@pytest.mark.parametrize("policy", ["torus_slices", "bcube_slices"])
def test_slices_in_several_racks(policy: str) -> None:
    judged = _judged("lightpath", "switches", policy, None)
    assert judged.spread > 0
    assert judged.log.never_fit == 0


@pytest.mark.parametrize(
    ("fabric", "kind", "response"),
    [
        *((fabric, kind, "place_again") for fabric, kind in EVERY),
        *(("lightpath", kind, "repair") for kind in KINDS),
        ("torus", "switches", "spare_server"),
    ],
)
def test_jobs_come_back_after_failures(fabric: str, kind: str, response: Response) -> None:
    judged = _judged(fabric, kind, "first_fit", response)
    assert judged.log.interruptions > 0
    assert judged.spread > 0
    assert judged.simulation.runs.busy == 0
