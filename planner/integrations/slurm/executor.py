"""Carries out the actions of a tick and logs each."""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from planner.controller.driver_calls import Calls
from planner.integrations.slurm.actions import Action
from planner.integrations.slurm.allocations import AllocationStore, Report
from planner.integrations.slurm.client import SlurmClient
from planner.integrations.slurm.commands import SlurmDownError, SlurmError
from planner.integrations.switch_drivers import CircuitError, Driver

Log = Callable[..., None]
"""called with what happened, and its details by name"""
LAST = ("place", "release", "split", "note")
"""actions on one job that concern no other: jobs side by side, after all other actions but those of switches"""
SWITCHES = ("off", "on")
"""actions that may take as long as a switch does: at the very end"""
LONGEST_SWITCHING_S = 1.0
"""after which no other switch is begun in a tick"""


class Executor:
    """Slurm, switches and locks of one site; `num_commands` of Slurm run at a time."""

    def __init__(
        self, client: SlurmClient, driver: Driver, store: AllocationStore, log: Log, num_commands: int = 1
    ) -> None:
        self._client, self._driver, self._store, self._log = client, driver, store, log
        self._num_commands = num_commands
        self._calls = Calls[Action]()
        self._refused: dict[int | str, str] = {}
        self._broken: dict[int, Report] = {}

    def carry_out(
        self, actions: Sequence[Action], may_go_on: Callable[[], bool], longest_s: float
    ) -> tuple[dict[int | str, str], dict[int, Report]]:
        """Carry out actions; returns refusals by job or node, and failures to put circuits on by job.

        After a refusal the other actions on that job or node are left for another tick. SlurmDownError ends all of it.
        """
        self._refused, self._broken = {}, {}
        with self._client.staying():
            self._all_but_switches(actions, _until(may_go_on, longest_s))
        self._switch([action for action in actions if action.do in SWITCHES], _until(may_go_on, LONGEST_SWITCHING_S))
        return self._refused, self._broken

    def _all_but_switches(self, actions: Sequence[Action], may_go_on: Callable[[], bool]) -> None:
        self._one_by_one([action for action in actions if action.do not in (*LAST, *SWITCHES)], may_go_on)
        chains: dict[int, list[Action]] = {}
        for action in actions:
            if action.do in LAST:
                chains.setdefault(action.job, []).append(action)
        if self._num_commands == 1:
            for chain in chains.values():
                self._one_by_one(chain, may_go_on)
        elif chains:
            with ThreadPoolExecutor(self._num_commands) as pool:
                list(pool.map(lambda chain: self._one_by_one(chain, may_go_on), chains.values()))

    def _switch(self, actions: Sequence[Action], may_go_on: Callable[[], bool]) -> None:
        """Begin these, but those of jobs whose last one has not ended; then hear of all that have ended by now."""
        for action in actions:
            if not may_go_on():
                break
            if action.job not in self._refused:
                self._calls.begin(action.name, action, partial(self._do, action))
        for action, error in self._calls.ended():
            if error is None:
                self._say(action)
            elif isinstance(error, (SlurmError, CircuitError, ValueError)) and not isinstance(error, SlurmDownError):
                self._refuse(action, error)
            else:
                raise error

    def _one_by_one(self, actions: Iterable[Action], may_go_on: Callable[[], bool]) -> None:
        for action in actions:
            if not may_go_on():
                return
            subject = action.job or action.name
            if subject in self._refused:
                continue
            try:
                self._do(action)
            except SlurmDownError:
                raise
            except (SlurmError, CircuitError, ValueError) as error:
                self._refuse(action, error)
            else:
                self._say(action)

    def _refuse(self, action: Action, error: Exception) -> None:
        self._log("refused", do=action.do, job=action.job, node=action.name, said=str(error))
        self._refused[action.job or action.name] = str(error)
        if isinstance(error, CircuitError) and action.do == "on":
            self._broken[action.job] = Report("connect", error.part, str(error))

    def _say(self, action: Action) -> None:
        details: dict[str, object] = {"job": action.job or None, "node": action.name or None}
        if action.do == "tell" and action.allocation is not None:
            details |= {
                "nodes": action.allocation.nodes,
                "circuits": sum(len(each["circuits"]) for each in action.allocation.circuits),
            }
        self._log(action.do, **{name: value for name, value in details.items() if value is not None})

    def _do(self, action: Action) -> None:
        client, files, job = self._client, self._store, action.job
        match action.do:
            case "off":
                self._driver.release(action.name)
            case "on" if action.allocation is not None:
                self._driver.connect(action.name, action.allocation.circuits)
            case "forget":
                files.forget(job)
            case "heard":
                files.heard(job)
            case "mark" if action.allocation is not None:
                files.keep(job, action.allocation)
            case "tell" if action.allocation is not None:
                files.tell(job, action.allocation, action.user_id)
            case "place" if action.allocation is not None:
                client.place(job, list(action.allocation.nodes), action.gres, action.comment)
            case "split":
                client.split(job, action.task)
            case "put_off":
                client.put_off(job, action.comment)
            case "put_on":
                client.start_now(job, action.comment)
            case "retry":
                client.start_now(job)
            case "delay":
                client.delay(job, action.in_s, action.comment)
            case "end":
                client.end(job, action.comment)
            case "note":
                client.note(job, action.comment)
            case "drain":
                client.drain(action.name, action.comment)
            case "resume":
                client.resume(action.name)
            case "release" | "hold" | "hold_for_admin" | "requeue_hold":
                getattr(client, action.do)(job)


def _until(may_go_on: Callable[[], bool], longest_s: float) -> Callable[[], bool]:
    end_s = time.monotonic() + longest_s
    return lambda: may_go_on() and time.monotonic() < end_s
