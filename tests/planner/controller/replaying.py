"""A controller beside a plain replay of its journal, which must agree with it after every event."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
)

from planner.controller import Controller, Decision, Settings
from tests.oracles.controller import Replayed, World, faults, replayed
from tests.planner.controller.sites import quick_folder
from tests.planner.simulate.grounds import cluster

PER_SERVER = 8
RULES: dict[str, Any] = {
    "quotas": {"b": {"accelerators": 12, "share": 2}, "c": {"ports": 8}}, "patience_s": 300, "half_life_s": 500,
    "downtime_s": 5, "greedy_budget_s": 5, "repair_budget_s": 1, "snapshot_every": 40, "keep_events": 60,
}  # fmt: skip


class Replaying(RuleBasedStateMachine):
    """One controller on one fabric, its journal on disk."""

    fabric = "fat_tree"
    events = 0
    counts: ClassVar = Counter[str]()

    @initialize()
    def begin(self) -> None:
        self.folder = quick_folder()
        self.path = Path(self.folder.name) / "journal.db"
        self.controller = Controller(cluster(self.fabric), self.path, Settings.model_validate(RULES))
        self.naive, self.time_s, self.number = Replayed(), 0.0, 0
        self.wanted: set[str] = set()
        self.calls: list[tuple[str, Callable[[Controller, str], tuple[Decision, ...]], tuple[Decision, ...]]] = []
        self.numbers: dict[str, int] = {}
        """of events in the journal, by key"""
        self.world, self.waits = World(), set[str]()

    def teardown(self) -> None:
        if hasattr(self, "controller"):
            try:
                self.look_at_all()
            finally:
                self.controller.close()
            if self.naive.events <= RULES["keep_events"]:
                assert replayed(self.path).state() == self.naive.state()
            self.folder.cleanup()

    def do(self, call: Callable[[Controller, str], tuple[Decision, ...]]) -> tuple[Decision, ...]:
        """One event under a key of its own."""
        key = f"k{len(self.calls)}"
        before = self.controller.seq
        decisions = call(self.controller, key)
        assert self.controller.seq == before + 1, "an event under a key is written, whatever it changes"
        self.follow(before, [decisions])
        self.calls.append((key, call, decisions))
        self.numbers[key] = self.controller.seq
        return decisions

    def follow(self, before: int, told: Sequence[tuple[Decision, ...]]) -> None:
        """The plain replay reads what the journal wrote since; accelerators and switches do as they are told."""
        for record, decisions in zip(self.controller._durable.journal.records(before), told, strict=True):
            self.naive.event(record.body, record.decisions)
            type(self).events += bool(record.decisions) or record.body["e"] != "replan"
            assert record.decisions == [decision.body() for decision in decisions]
            if "noted" not in record.body:
                assert self.world.carry_out(decisions, set(self.controller.down)) == []

    def tick(self, gap_s: float) -> float:
        self.time_s += gap_s
        return self.time_s

    @invariant()
    def nothing_is_held_twice(self) -> None:
        if not hasattr(self, "controller"):
            return
        c = self.controller
        running = c.running
        assert self.world.on == c.circuits()
        if self.number % 8 == 0:
            assert faults(running, set(c.state()["failed"]), PER_SERVER) == []
        assert running.keys() | set(c.waiting) == self.wanted == self.naive.jobs.keys()
        assert running.keys().isdisjoint(c.waiting)
        assert c.counts.refused == 0
        if self.number % 8:
            return
        state = c.state()
        uses = state.pop("uses")
        assert state == self.naive.state()
        held = {tenant: (use["accelerators"], use["ports"]) for tenant, use in uses.items() if use["accelerators"]}
        assert held == self.naive.held()
        assert held.get("b", (0, 0))[0] <= 12
        assert held.get("c", (0, 0))[1] <= 8

    def count(self) -> None:
        """What searches came to in this process."""
        type(self).counts.update(asdict(self.controller.counts))

    def look_at_all(self) -> None:
        """All checks, and what the board and the guard hold, at the end of each run."""
        c = self.controller
        self.count()
        assert c.check() == []
        board = c._durable.state.free
        assert board.held.keys() == c.running.keys()
        broken = len(board.cluster.failed_devices)
        held = sum(len(place.devices) for place in c.running.values())
        assert c.num_free == 4 * PER_SERVER - broken - held
