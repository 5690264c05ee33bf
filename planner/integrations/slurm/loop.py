"""One tick: look at Slurm, switches and locks, tell the controller what is new, and act on what it wants."""

import time
from collections.abc import Callable
from math import inf

from planner.controller.controller import Controller
from planner.controller.settings import Request
from planner.integrations.slurm import controller_events
from planner.integrations.slurm.actions import acts
from planner.integrations.slurm.allocations import Allocation, AllocationStore, set_aside, told_of
from planner.integrations.slurm.client import SlurmClient
from planner.integrations.slurm.config import SlurmSite
from planner.integrations.slurm.desired_state import wants_of
from planner.integrations.slurm.executor import SWITCHES, Executor, Log
from planner.integrations.slurm.observed_state import DesiredState, Memory, ObservedState, Refusal, number_of
from planner.integrations.switch_drivers import Driver
from planner.model.errors import FullError, InputError
from planner.placement.placement import Place

MOST_WAITING = 1_000_000
REPLAN_EVERY_S = 5.0
REPLAN_BUDGET_S = 0.5
"""where the settings name no other: half of it is for a place without moving anybody"""
LONGEST_ACTS_S = 3.0
"""of one tick: the rest is left for the next one, which may know better"""
LONGEST_EXPANSION_S = 1.0
"""of one tick, after which no other job is expanded: some seconds for the first of a kind"""


class Loop:
    """The controller of one site beside its Slurm."""

    def __init__(
        self,
        site: SlurmSite,
        controller: Controller,
        client: SlurmClient,
        driver: Driver,
        tellings: AllocationStore,
        log: Log,
        num_commands: int = 1,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.site, self.controller = site, controller
        self._client, self._driver, self._tellings, self._log, self._clock = client, driver, tellings, log, clock
        self._hands = Executor(client, driver, tellings, log, num_commands)
        self._node_of_server = {server: node for node, server in site.server_of_node.items()}
        self._memory = Memory()
        self._wants = -1, DesiredState({}, {}, {}, frozenset(), frozenset())
        self._places: dict[int, tuple[Place, Allocation]] = {}
        self._replanned_s = 0.0
        self.planning_s, self.num_acts = 0.0, 0
        """of the last tick: what the controller took, and how much there was to do"""

    def world(self) -> ObservedState:
        """Everything outside, in the order that makes it safe to act upon."""
        applied = self._driver.applied()
        reports = {job: report for job, report in self._tellings.reports().items() if report.action == "connect"}
        jobs = self._client.jobs()
        return ObservedState(applied, reports, jobs, self._client.nodes(), self._tellings.all())

    def wants(self) -> DesiredState:
        """What the controller wants now; looked up once for every state of it."""
        seq, known = self._wants
        if seq != self.controller.seq:
            view = self.controller.view(MOST_WAITING)
            known = wants_of(view, self.site, self._told)
            self._wants = view.seq, known
            self._places = {job: each for job, each in self._places.items() if job in known.places}
        return known

    def _told(self, job: int, place: Place) -> Allocation:
        """A place in the words of Slurm, worked out once."""
        if job not in self._places or self._places[job][0] is not place:
            self._places[job] = place, told_of(place, self._node_of_server, 0)
        return self._places[job][1]

    def tick(self, may_go_on: Callable[[], bool] = lambda: True) -> ObservedState:
        """SlurmDownError or CircuitError where nothing can be known: nothing is lost, the next tick begins anew."""
        self.planning_s, self.num_acts = 0.0, 0
        world, now_s = self.world(), self._clock()
        began_s = time.perf_counter()
        self._put_back(world)
        self._follow(world, now_s)
        self.planning_s = time.perf_counter() - began_s
        todo = acts(world, self.wants(), self._memory, self.site, now_s)
        self.num_acts = len(todo)
        refused, broken = self._hands.carry_out(todo, may_go_on, LONGEST_ACTS_S)
        for act in todo:
            if act.do in SWITCHES and act.job in refused:
                self._memory.switchings.failed(act.name, self._clock())
            if act.do == "place" and act.job in refused:
                why = f"Slurm refuses its place: {refused[act.job]}"
                self._refuse(world, act.job, why, now_s + controller_events.LOOK_AGAIN_S)
        for report in broken.values():
            if report.part is not None:
                self._tell_health([controller_events.ControllerEvent("fail", report.part)])
        return world

    def _put_back(self, world: ObservedState) -> None:
        """Say what hooks report, and forget what is over."""
        memory = self._memory
        for job, report in world.reports.items():
            self._log("report", job=job, part=report.part, said=report.said)
        memory.switchings.forget(world.is_switched)
        for job in [job for job in memory.refused if world.has_ended(job)]:
            del memory.refused[job]

    def _follow(self, world: ObservedState, now_s: float) -> None:
        """Bring the controller up to date with Slurm."""
        for path, order in self._tellings.orders():
            if order is None:
                self._log("damaged", file=str(set_aside(path)))
                continue
            self._tell_health([controller_events.ControllerEvent(order.call, order.part)])
            path.unlink()
        self._tell_all(controller_events.ended(world, self.wants()))
        self._tell_health(controller_events.reported(world, self.wants()))
        self._tell_all(controller_events.health(world, self.wants(), self._memory, self.site))
        asked = controller_events.asked(world, self.wants(), self._memory, self.site, now_s)
        self._tell_all(controller_events.let_go(world, self.wants(), asked, self.site))
        requests = [request for job, request in asked.items() if not self.wants().knows(job)]
        ready = self._ready(world, requests, now_s)
        if ready:
            self._log("submit", jobs=[request.name for request in ready])
            self.controller.submit_all(ready)
        elif self.controller.waiting and now_s - self._replanned_s > REPLAN_EVERY_S:
            self._replanned_s = now_s
            usual_s = max(REPLAN_BUDGET_S, self.controller.repair_budget_s)
            own_s = self.controller.settings.repair_budget_s
            self.controller.replan(usual_s if own_s is None else own_s)

    def _ready(self, world: ObservedState, requests: list[Request], now_s: float) -> list[Request]:
        """Those that can run, as many as can be expanded in a tick, in the order in which they were given."""
        end_s, ready = time.monotonic() + LONGEST_EXPANSION_S, set[str]()
        for number, request in enumerate(controller_events.in_turn(requests, self._memory)):
            if number and time.monotonic() > end_s:
                break
            self._memory.served_s[request.tenant] = now_s
            if self._is_ready(world, request):
                ready.add(request.name)
        return [request for request in requests if request.name in ready]

    def _is_ready(self, world: ObservedState, request: Request) -> bool:
        try:
            self.controller.prepare(request)
        except FullError as error:
            self._log("later", job=number_of(request.name), said=str(error))
            return False
        except InputError as error:
            job = number_of(request.name)
            assert job is not None
            self._refuse(world, job, error.problem)
            self._log("never", job=job, said=str(error))
            return False
        return True

    def _refuse(self, world: ObservedState, job: int, why: str, until_s: float = inf) -> None:
        mark = controller_events.mark_of(world.jobs[job], world.ours[job])
        self._memory.refused[job] = Refusal(mark, why, until_s)

    def _tell_health(self, told: list[controller_events.ControllerEvent]) -> None:
        """What hooks and operators say of parts, for as long as they do not say otherwise."""
        for event in told:
            (self._memory.broken.add if event.call == "fail" else self._memory.broken.discard)(event.subject)
        self._tell_all(told)

    def _tell_all(self, told: list[controller_events.ControllerEvent]) -> None:
        for event in told:
            try:
                getattr(self.controller, event.call)(event.subject)
            except InputError as error:
                self._log("unknown", call=event.call, subject=event.subject, said=str(error))
            else:
                self._log(event.call, subject=event.subject)
