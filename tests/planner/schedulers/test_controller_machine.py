"""Random events against a plain replay of the journal: nothing is held twice, nothing is lost, each state is explained.

CI takes a small part of the events. CONTROLLER_EVENTS=100000 in the environment takes all.
"""

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from planner.errors import InputError
from planner.schedulers import Controller, Decision, Settings
from tests.oracles.controller import Replayed, faults, replayed
from tests.planner.replay.grounds import cluster
from tests.planner.schedulers.sites import quick_folder, request

EVENTS = int(os.environ.get("CONTROLLER_EVENTS", "4000"))
STEPS, RUNS = 100, 8
"""events of one controller, and controllers for each seed of the random numbers"""
SHARES = {"lightpath": 0.5, "fat_tree": 0.46, "ocs_rail": 0.02, "torus": 0.02}
"""of the events on each fabric; rails and slices are checked by all checks after each start, which is slow"""
PER_SERVER = 8
RULES: dict[str, Any] = {
    "quotas": {"b": {"accelerators": 12, "share": 2}, "c": {"ports": 8}}, "patience_s": 300, "half_life_s": 500,
    "downtime_s": 5, "greedy_budget_s": 0.05, "repair_budget_s": 0.05, "snapshot_every": 40,
}  # fmt: skip
PARTS = {
    "lightpath": ["s0.t1", "s3.t7", "s1.t2:port", "s2.t0:port", "s0>s1#0", "s2>s3#0", "s1.t4:w2", "s0.t0:rx:w1"],
    "fat_tree": ["s0.g1", "s3.g7", "s1.g2:port", "s2.g0:port"],
    "ocs_rail": ["s0.g1", "s1.g2:port", "q3#1", "q0#0"],
    "torus": ["s0.c1", "s1.c2:port", "x0"],
}


class Machine(RuleBasedStateMachine):
    """One controller on one fabric, its journal on disk."""

    fabric = "fat_tree"
    events = 0

    @initialize()
    def begin(self) -> None:
        self.folder = quick_folder()
        self.path = Path(self.folder.name) / "journal.db"
        self.controller = Controller(cluster(self.fabric), self.path, Settings.model_validate(RULES))
        self.naive, self.time_s, self.number = Replayed(), 0.0, 0
        self.wanted: set[str] = set()
        self.calls: list[tuple[str, Callable[[Controller, str], tuple[Decision, ...]], tuple[Decision, ...]]] = []
        self.is_fresh = True

    def teardown(self) -> None:
        if hasattr(self, "controller"):
            try:
                self.look_at_all()
            finally:
                self.controller.close()
            assert replayed(self.path).state() == self.naive.state()
            self.folder.cleanup()

    def do(self, call: Callable[[Controller, str], tuple[Decision, ...]]) -> tuple[Decision, ...]:
        """One event under a key of its own."""
        key = f"k{len(self.calls)}"
        before = self.controller.seq
        decisions = call(self.controller, key)
        type(self).events += self.controller.seq - before
        self.follow(before)
        self.calls.append((key, call, decisions))
        return decisions

    def follow(self, before: int) -> None:
        """The plain replay reads what the journal wrote since."""
        for record in self.controller._desk.journal.records(before):
            self.naive.event(record.body, record.decisions)

    @rule(
        size=st.sampled_from([1, 1, 1, 2, 2, 4, 8, 16, [4, 8]]), priority=st.sampled_from([0, 0, 0, 1, 5]),
        tenant=st.sampled_from("abc"), limit_s=st.sampled_from([None, 20, 100, 400]), movable=st.booleans(),
        preemptible=st.booleans(), gap_s=st.sampled_from([0, 1, 10, 50]),
    )  # fmt: skip
    def submit(
        self,
        size: Any,
        priority: int,
        tenant: str,
        limit_s: float | None,
        movable: bool,
        preemptible: bool,
        gap_s: float,
    ) -> None:
        assume(size != 16 or tenant == "a")
        name, now_s = f"j{self.number}", self.tick(gap_s)
        self.number += 1
        job = request(
            name, size, priority=priority, tenant=tenant, duration_s=limit_s, movable=movable, preemptible=preemptible
        )
        self.wanted.add(name)
        decisions = self.do(lambda c, key: c.submit(job, key=key, at_s=now_s))
        told = {decision.job for decision in decisions}
        assert name in told, "a user is told that the job starts, or why it waits"

    @rule(sizes=st.lists(st.sampled_from([1, 2, 4, 8]), min_size=2, max_size=5))
    def submit_batch(self, sizes: list[int]) -> None:
        names = [f"j{self.number + i}" for i in range(len(sizes))]
        self.number += len(sizes)
        jobs, now_s = [request(n, s, duration_s=100) for n, s in zip(names, sizes, strict=True)], self.tick(1)
        self.wanted.update(names)
        self.do(lambda c, key: c.submit_all(jobs, key=key, at_s=now_s))

    @precondition(lambda self: self.wanted)
    @rule(data=st.data(), gap_s=st.sampled_from([1, 10, 50]))
    def end(self, data: st.DataObject, gap_s: float) -> None:
        """A job ends if it runs, or is cancelled if it waits."""
        name, now_s = data.draw(st.sampled_from(sorted(self.wanted))), self.tick(gap_s)
        self.wanted.discard(name)
        if name in self.controller.running:
            self.do(lambda c, key: c.finish(name, key=key, at_s=now_s))
        else:
            self.do(lambda c, key: c.cancel(name, key=key, at_s=now_s))

    @rule(data=st.data())
    def break_or_mend(self, data: st.DataObject) -> None:
        """One part in all is down for most of the time, so that jobs find places."""
        now_s, down = self.tick(1), self.controller.down
        if down and data.draw(st.integers(0, 2)):
            part = data.draw(st.sampled_from(down))
            self.do(lambda c, key: c.repair(part, key=key, at_s=now_s))
        elif data.draw(st.booleans()):
            part = data.draw(st.sampled_from(PARTS[self.fabric]))
            assume(part not in down)
            self.do(lambda c, key: c.fail(part, key=key, at_s=now_s))
        else:
            server = data.draw(st.sampled_from(["s0", "s2"]))
            assume(server not in down)
            self.do(lambda c, key: c.drain(server, key=key, at_s=now_s))

    @rule()
    def replan(self) -> None:
        now_s = self.tick(1)
        self.do(lambda c, key: c.replan(0.1, key=key, at_s=now_s))

    @precondition(lambda self: self.calls)
    @rule(data=st.data())
    def repeat(self, data: st.DataObject) -> None:
        """An event that comes again under its key is answered as before and not applied."""
        key, call, decisions = data.draw(st.sampled_from(self.calls[-5:]))
        before, state = self.controller.seq, self.controller.state()
        if (
            any(record.body["e"] == "replan" for record in [self.controller._desk.journal.known(key)] if record)
            or decisions
        ):
            assert [d.body() for d in call(self.controller, key)] == [d.body() for d in decisions]
            assert (self.controller.seq, self.controller.state()) == (before, state)

    @rule(which=st.integers(0, 7))
    def ask_wrongly(self, which: int) -> None:
        """What cannot be is refused, and nothing changes."""
        c, name = self.controller, next(iter(sorted(self.wanted)), None)
        wrong: list[Callable[[], object]] = [
            lambda: c.cancel("nobody"),
            lambda: c.finish("nobody"),
            lambda: c.fail("s9.t99"),
            lambda: c.repair("s1.t1"),
            lambda: c.drain("s77"),
            lambda: c.submit(request("large", 4096)),
            lambda: c.submit(request("greedy", 16, tenant="b")),
            lambda: c.submit(request(name or "x", 1, tenant="other")) if name else c.cancel("nobody"),
        ]
        before, state = c.seq, c.state()
        with pytest.raises(InputError):
            wrong[which]()
        assert (c.seq, c.state()) == (before, state)

    @precondition(lambda self: self.calls)
    @rule(how=st.sampled_from(["crash", "close"]))
    def restart(self, how: str) -> None:
        """The process dies, or is closed; what it knew is in the journal."""
        state, circuits = self.controller.state(), self.controller.circuits()
        if how == "close":
            self.controller.close()
        else:
            self.controller._desk.journal.close()
        self.controller = Controller(journal=self.path)
        assert self.controller.state() == state
        assert self.controller.circuits() == circuits
        assert self.controller.reconcile(circuits) == ((), {})

    def tick(self, gap_s: float) -> float:
        self.time_s += gap_s
        return self.time_s

    @invariant()
    def nothing_is_held_twice(self) -> None:
        if not hasattr(self, "controller"):
            return
        c = self.controller
        running = c.running
        assert faults(running, set(c.down), PER_SERVER) == []
        assert running.keys() | set(c.waiting) == self.wanted == self.naive.jobs.keys()
        assert running.keys().isdisjoint(c.waiting)
        assert c.counts.refused == 0
        if self.number % 4:
            return
        state = c.state()
        uses = state.pop("uses")
        assert state == self.naive.state()
        held = {tenant: (use["accelerators"], use["ports"]) for tenant, use in uses.items() if use["accelerators"]}
        assert held == self.naive.held()
        assert held.get("b", (0, 0))[0] <= 12
        assert held.get("c", (0, 0))[1] <= 8

    def look_at_all(self) -> None:
        """All checks, and what the board and the guard hold, at the end of each run."""
        c = self.controller
        assert c.check() == []
        board = c._desk.floor.board
        assert board.held.keys() == c.running.keys()
        broken = len(board.cluster.failed_devices)
        held = sum(len(place.devices) for place in c.running.values())
        assert c.num_free == 4 * PER_SERVER - broken - held


@pytest.mark.parametrize("fabric", SHARES)
def test_random_events_agree_with_a_plain_replay(fabric: str) -> None:
    machine = type("On", (Machine,), {"fabric": fabric, "events": 0})
    limits = settings(
        max_examples=RUNS, stateful_step_count=STEPS, deadline=None, database=None,
        suppress_health_check=list(HealthCheck), print_blob=False,
        phases=(Phase.generate,),
    )  # fmt: skip
    for number in count():
        run_state_machine_as_test(seed(number)(machine), settings=limits)  # type: ignore[no-untyped-call]
        if machine.events >= EVENTS * SHARES[fabric]:
            break
