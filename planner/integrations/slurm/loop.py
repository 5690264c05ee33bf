"""One tick: observe Slurm, switches and locks, give the controller what is new, and reconcile with what it decided."""

import time
from collections.abc import Callable
from math import inf

from planner.controller.controller import Controller
from planner.controller.settings import Request
from planner.integrations.slurm import controller_events
from planner.integrations.slurm.actions import reconcile
from planner.integrations.slurm.allocations import Allocation, AllocationStore, allocation_of, set_aside
from planner.integrations.slurm.client import SlurmClient
from planner.integrations.slurm.config import SlurmSite
from planner.integrations.slurm.desired_state import desired_state_of
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
        store: AllocationStore,
        log: Log,
        num_commands: int = 1,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.site, self.controller = site, controller
        self._client, self._driver, self._store, self._log, self._clock = client, driver, store, log, clock
        self._executor = Executor(client, driver, store, log, num_commands)
        self._node_of_server = {server: node for node, server in site.server_of_node.items()}
        self._memory = Memory()
        self._desired = -1, DesiredState({}, {}, {}, frozenset(), frozenset())
        self._places: dict[int, tuple[Place, Allocation]] = {}
        self._replanned_s = 0.0
        self.planning_s, self.num_actions = 0.0, 0
        """of the last tick: what the controller took, and how much there was to do"""

    def observe(self) -> ObservedState:
        """Observed state, read in the order that makes it safe to act upon."""
        applied = self._driver.applied()
        reports = {job: report for job, report in self._store.reports().items() if report.action == "connect"}
        jobs = self._client.jobs()
        return ObservedState(applied, reports, jobs, self._client.nodes(), self._store.all())

    def desired(self) -> DesiredState:
        """Desired state of the controller now, computed once for each number of events."""
        seq, known = self._desired
        if seq != self.controller.seq:
            view = self.controller.view(MOST_WAITING)
            known = desired_state_of(view, self.site, self._allocation)
            self._desired = view.seq, known
            self._places = {job: each for job, each in self._places.items() if job in known.places}
        return known

    def _allocation(self, job: int, place: Place) -> Allocation:
        """A place in the words of Slurm, worked out once."""
        if job not in self._places or self._places[job][0] is not place:
            self._places[job] = place, allocation_of(place, self._node_of_server, 0)
        return self._places[job][1]

    def tick(self, may_go_on: Callable[[], bool] = lambda: True) -> ObservedState:
        """SlurmDownError or CircuitError where nothing can be known: nothing is lost, the next tick begins anew."""
        self.planning_s, self.num_actions = 0.0, 0
        observed, now_s = self.observe(), self._clock()
        began_s = time.perf_counter()
        self._put_back(observed)
        self._follow(observed, now_s)
        self.planning_s = time.perf_counter() - began_s
        todo = reconcile(observed, self.desired(), self._memory, self.site, now_s)
        self.num_actions = len(todo)
        refused, broken = self._executor.carry_out(todo, may_go_on, LONGEST_ACTS_S)
        for action in todo:
            if action.do in SWITCHES and action.job in refused:
                self._memory.switchings.failed(action.name, self._clock())
            if action.do == "place" and action.job in refused:
                why = f"Slurm refuses its place: {refused[action.job]}"
                self._refuse(observed, action.job, why, now_s + controller_events.LOOK_AGAIN_S)
        for report in broken.values():
            if report.part is not None:
                self._tell_health([controller_events.ControllerEvent("fail", report.part)])
        return observed

    def _put_back(self, observed: ObservedState) -> None:
        """Say what hooks report, and forget what is over."""
        memory = self._memory
        for job, report in observed.reports.items():
            self._log("report", job=job, part=report.part, said=report.said)
        memory.switchings.forget(observed.is_switched)
        for job in [job for job in memory.refused if observed.has_ended(job)]:
            del memory.refused[job]

    def _follow(self, observed: ObservedState, now_s: float) -> None:
        """Bring the controller up to date with Slurm."""
        for path, order in self._store.orders():
            if order is None:
                self._log("damaged", file=str(set_aside(path)))
                continue
            self._tell_health([controller_events.ControllerEvent(order.call, order.part)])
            path.unlink()
        self._tell_all(controller_events.ended(observed, self.desired()))
        self._tell_health(controller_events.reported(observed, self.desired()))
        self._tell_all(controller_events.health(observed, self.desired(), self._memory, self.site))
        asked = controller_events.asked(observed, self.desired(), self._memory, self.site, now_s)
        self._tell_all(controller_events.let_go(observed, self.desired(), asked, self.site))
        requests = [request for job, request in asked.items() if not self.desired().knows(job)]
        ready = self._ready(observed, requests, now_s)
        if ready:
            self._log("submit", jobs=[request.name for request in ready])
            self.controller.submit_all(ready)
        elif self.controller.waiting and now_s - self._replanned_s > REPLAN_EVERY_S:
            self._replanned_s = now_s
            usual_s = max(REPLAN_BUDGET_S, self.controller.repair_budget_s)
            own_s = self.controller.settings.repair_budget_s
            self.controller.replan(usual_s if own_s is None else own_s)

    def _ready(self, observed: ObservedState, requests: list[Request], now_s: float) -> list[Request]:
        """Those that can run, as many as can be expanded in a tick, in the order in which they were given."""
        end_s, ready = time.monotonic() + LONGEST_EXPANSION_S, set[str]()
        for number, request in enumerate(controller_events.in_turn(requests, self._memory)):
            if number and time.monotonic() > end_s:
                break
            self._memory.served_s[request.tenant] = now_s
            if self._is_ready(observed, request):
                ready.add(request.name)
        return [request for request in requests if request.name in ready]

    def _is_ready(self, observed: ObservedState, request: Request) -> bool:
        try:
            self.controller.prepare(request)
        except FullError as error:
            self._log("later", job=number_of(request.name), said=str(error))
            return False
        except InputError as error:
            job = number_of(request.name)
            assert job is not None
            self._refuse(observed, job, error.problem)
            self._log("never", job=job, said=str(error))
            return False
        return True

    def _refuse(self, observed: ObservedState, job: int, why: str, until_s: float = inf) -> None:
        mark = controller_events.mark_of(observed.jobs[job], observed.ours[job])
        self._memory.refused[job] = Refusal(mark, why, until_s)

    def _tell_health(self, events: list[controller_events.ControllerEvent]) -> None:
        """Report to the controller the health of parts as hooks and operators gave it last."""
        for event in events:
            (self._memory.broken.add if event.call == "fail" else self._memory.broken.discard)(event.subject)
        self._tell_all(events)

    def _tell_all(self, events: list[controller_events.ControllerEvent]) -> None:
        for event in events:
            try:
                getattr(self.controller, event.call)(event.subject)
            except InputError as error:
                self._log("unknown", call=event.call, subject=event.subject, said=str(error))
            else:
                self._log(event.call, subject=event.subject)
