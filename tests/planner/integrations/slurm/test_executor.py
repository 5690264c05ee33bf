"""What a tick does to Slurm and switches, and what of it one thing that fails may hold up."""

from contextlib import nullcontext
from typing import Any, cast

import pytest

from planner.controller.switch_driver import NO_CIRCUITS
from planner.integrations.slurm import executor
from planner.integrations.slurm.actions import Action, reconcile
from planner.integrations.slurm.allocations import Allocation, AllocationStore
from planner.integrations.slurm.client import SlurmClient
from planner.integrations.slurm.commands import SlurmError
from planner.integrations.slurm.executor import Executor
from planner.integrations.slurm.observed_state import DesiredState, Memory, ObservedState
from planner.integrations.switch_drivers import CircuitError, Circuits
from tests.planner.integrations.slurm.executor_cases import LIGHT, SITE
from tests.planner.integrations.slurm.job_requests_cases import row

PLACE = Allocation({"n0": (0, 1)}, [])


class Slurm:
    """Notes what it is told; some of it is refused."""

    def __init__(self, *refused: object) -> None:
        self.done: list[tuple[object, ...]] = []
        self._refused = refused

    def staying(self) -> nullcontext[None]:
        return nullcontext()

    def __getattr__(self, name: str) -> Any:
        def call(subject: object, *_: object) -> None:
            if subject in self._refused:
                raise SlurmError("no")
            self.done.append((name, subject))

        return call


class StuckDriver:
    """On a clock that nothing else moves."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def release(self, job: str, but: Circuits = NO_CIRCUITS) -> None:
        self.now_s += 0.15
        raise CircuitError("the switch does not answer")


def carry_out(slurm: Slurm, todo: list[Action], driver: StuckDriver | None = None) -> dict[int | str, str]:
    given = cast(Any, driver or StuckDriver())
    made = Executor(cast(SlurmClient, slurm), given, cast(AllocationStore, None), lambda *_, **__: None)
    return made.carry_out(todo, lambda: True, 60.0)[0]


def test_a_stuck_switch_stops_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    slurm, driver = Slurm(), StuckDriver()
    monkeypatch.setattr(executor, "LONGEST_SWITCHING_S", 0.2)
    monkeypatch.setattr(executor, "time", driver)
    off = [Action("off", job, name=f"slurm-{job}") for job in (1, 2, 3)]
    refused = carry_out(slurm, [*off, Action("place", 8, PLACE), Action("release", 8)], driver)
    assert slurm.done == [("place", 8), ("release", 8)]
    assert list(refused) == [1, 2]


def test_a_node_that_slurm_refuses_concerns_no_other() -> None:
    slurm = Slurm("n0")
    refused = carry_out(slurm, [Action("drain", name="n0"), Action("drain", name="n1"), Action("resume", name="n2")])
    assert slurm.done == [("drain", "n1"), ("resume", "n2")]
    assert refused == {"n0": "no"}


def test_a_stuck_switch_is_tried_less_and_less_often() -> None:
    observed, memory = ObservedState({"slurm-7": LIGHT}, {}, {}, {}, {}), Memory()
    desired = DesiredState({}, {}, {}, frozenset(), frozenset())
    tried_s = []
    for now_s in range(200):
        if any(action.do == "off" for action in reconcile(observed, desired, memory, SITE, now_s)):
            tried_s.append(now_s)
            memory.switchings.failed("slurm-7", now_s)
    assert tried_s == [0, 1, 5, 13, 29, 61, 121, 181]
    memory.switchings.forget(observed.is_switched)
    assert not memory.switchings.is_due("slurm-7", 200)
    memory.switchings.forget(ObservedState({}, {}, {}, {}, {}).is_switched)
    assert memory.switchings.is_due("slurm-7", 200)


def test_a_job_gets_no_place_before_its_old_circuits_are_off() -> None:
    """They go off at the end of a tick: what its prolog put on must not be what that takes off."""
    desired = DesiredState({}, {7: PLACE}, {}, frozenset(), frozenset())
    done = [
        action.do
        for action in reconcile(ObservedState({"slurm-7": LIGHT}, {}, {7: row()}, {}, {}), desired, Memory(), SITE, 0.0)
    ]
    assert done == ["off"]
    done = [action.do for action in reconcile(ObservedState({}, {}, {7: row()}, {}, {}), desired, Memory(), SITE, 0.0)]
    assert done == ["tell", "place", "release"]
