"""Carries out the acts of a tick, and says what it did."""

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
"""acts on one job that concern no other: jobs side by side, after all other acts but those of switches"""
SWITCHES = ("off", "on")
"""acts that may take as long as a switch does: at the very end"""
LONGEST_SWITCHING_S = 1.0
"""after which no other switch is begun in a tick"""


class Executor:
    """Slurm, switches and locks of one site; `num_commands` of Slurm run at a time."""

    def __init__(
        self, client: SlurmClient, driver: Driver, tellings: AllocationStore, log: Log, num_commands: int = 1
    ) -> None:
        self._client, self._driver, self._tellings, self._log = client, driver, tellings, log
        self._num_commands = num_commands
        self._calls = Calls[Action]()
        self._refused: dict[int | str, str] = {}
        self._broken: dict[int, Report] = {}

    def carry_out(
        self, acts: Sequence[Action], may_go_on: Callable[[], bool], longest_s: float
    ) -> tuple[dict[int | str, str], dict[int, Report]]:
        """What was refused, by job or node, and which circuits could not be put on, by job.

        After a refusal the other acts on that job or node are left for another tick. SlurmDownError ends all of it.
        """
        self._refused, self._broken = {}, {}
        with self._client.staying():
            self._all_but_switches(acts, _until(may_go_on, longest_s))
        self._switch([act for act in acts if act.do in SWITCHES], _until(may_go_on, LONGEST_SWITCHING_S))
        return self._refused, self._broken

    def _all_but_switches(self, acts: Sequence[Action], may_go_on: Callable[[], bool]) -> None:
        self._one_by_one([act for act in acts if act.do not in (*LAST, *SWITCHES)], may_go_on)
        chains: dict[int, list[Action]] = {}
        for act in acts:
            if act.do in LAST:
                chains.setdefault(act.job, []).append(act)
        if self._num_commands == 1:
            for chain in chains.values():
                self._one_by_one(chain, may_go_on)
        elif chains:
            with ThreadPoolExecutor(self._num_commands) as pool:
                list(pool.map(lambda chain: self._one_by_one(chain, may_go_on), chains.values()))

    def _switch(self, acts: Sequence[Action], may_go_on: Callable[[], bool]) -> None:
        """Begin these, but those of jobs whose last one has not ended; then hear of all that have ended by now."""
        for act in acts:
            if not may_go_on():
                break
            if act.job not in self._refused:
                self._calls.begin(act.name, act, partial(self._do, act))
        for act, error in self._calls.ended():
            if error is None:
                self._say(act)
            elif isinstance(error, (SlurmError, CircuitError, ValueError)) and not isinstance(error, SlurmDownError):
                self._refuse(act, error)
            else:
                raise error

    def _one_by_one(self, acts: Iterable[Action], may_go_on: Callable[[], bool]) -> None:
        for act in acts:
            if not may_go_on():
                return
            subject = act.job or act.name
            if subject in self._refused:
                continue
            try:
                self._do(act)
            except SlurmDownError:
                raise
            except (SlurmError, CircuitError, ValueError) as error:
                self._refuse(act, error)
            else:
                self._say(act)

    def _refuse(self, act: Action, error: Exception) -> None:
        self._log("refused", do=act.do, job=act.job, node=act.name, said=str(error))
        self._refused[act.job or act.name] = str(error)
        if isinstance(error, CircuitError) and act.do == "on":
            self._broken[act.job] = Report("connect", error.part, str(error))

    def _say(self, act: Action) -> None:
        details: dict[str, object] = {"job": act.job or None, "node": act.name or None}
        if act.do == "tell" and act.told is not None:
            details |= {"nodes": act.told.nodes, "circuits": sum(len(each["circuits"]) for each in act.told.circuits)}
        self._log(act.do, **{name: value for name, value in details.items() if value is not None})

    def _do(self, act: Action) -> None:
        client, files, job = self._client, self._tellings, act.job
        match act.do:
            case "off":
                self._driver.release(act.name)
            case "on" if act.told is not None:
                self._driver.connect(act.name, act.told.circuits)
            case "forget":
                files.forget(job)
            case "heard":
                files.heard(job)
            case "mark" if act.told is not None:
                files.keep(job, act.told)
            case "tell" if act.told is not None:
                files.tell(job, act.told, act.user_id)
            case "place" if act.told is not None:
                client.place(job, list(act.told.nodes), act.gres, act.comment)
            case "split":
                client.split(job, act.task)
            case "put_off":
                client.put_off(job, act.comment)
            case "put_on":
                client.start_now(job, act.comment)
            case "retry":
                client.start_now(job)
            case "delay":
                client.delay(job, act.in_s, act.comment)
            case "end":
                client.end(job, act.comment)
            case "note":
                client.note(job, act.comment)
            case "drain":
                client.drain(act.name, act.comment)
            case "resume":
                client.resume(act.name)
            case "release" | "hold" | "hold_for_admin" | "requeue_hold":
                getattr(client, act.do)(job)


def _until(may_go_on: Callable[[], bool], longest_s: float) -> Callable[[], bool]:
    end_s = time.monotonic() + longest_s
    return lambda: may_go_on() and time.monotonic() < end_s
