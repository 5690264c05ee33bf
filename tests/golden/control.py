"""A controller after seeded events on each fabric: its journal with every decision, its state, its plan."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from random import Random
from typing import Any

from tests.golden.frozen import EPOCH_S, reset
from tests.golden.texts import FABRICS, Unit, public, shown, write_served

EVENTS, FEW = 10_000, 300
GROUP = 50
"""events that are written together"""
SIZES = (1, 1, 2, 2, 4, 4, 8, 8, 12, 16)
TRAINING = {"kind": "transformer_training", "model": "bert-large", "global_batch": 96, "sequence": 512}
SERVING = {"kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": 32, "input_tokens": 1024,
           "output_tokens": 512}  # fmt: skip
LARGE = {"kind": "transformer_inference", "model": "llama-3.1-70b", "precision": "fp8", "concurrency": 32,
         "input_tokens": 1024, "output_tokens": 512}  # fmt: skip
SETTINGS = {"greedy_budget_s": 60, "repair_budget_s": 0.05, "snapshot_every": 2500, "depth": 8, "patience": "2 h",
            "quotas": {"b": {"accelerators": 16, "share": 2}}}  # fmt: skip
ACTS = {
    "submit": 42,
    "finish": 40,
    "batch": 3,
    "cancel": 3,
    "fail": 3,
    "repair": 4,
    "drain": 1,
    "undrain": 1,
    "replan": 1,
}
MOST_WAITING = 12
TABLES = ("kinds", "configurations", "wirings", "events", "snapshots", "uses", "meta")


def units() -> Iterator[Unit]:
    for fabric in FABRICS:
        yield Unit("control", f"{fabric} {FEW} events", partial(_record, fabric, FEW), True)
        yield Unit("control", f"{fabric} {EVENTS} events", partial(_record, fabric, EVENTS))


def _record(fabric: str, events: int) -> dict[str, str]:
    planner = public()
    cluster = planner.Instance.load(write_served(fabric, servers=8)).cluster
    controller = planner.Controller(cluster, "planner.db", planner.Settings.model_validate(SETTINGS))
    reset(reading_s=0)
    drive = Drive(controller, planner.Request, planner.InputError)
    for _ in range(0, events, GROUP):
        with controller.group():
            for _ in range(min(GROUP, events)):
                drive.event()
    found = {
        "counts": shown(list(asdict(controller.counts).values())),
        "refusals": shown(drive.refused),
        **_state(controller),
    }
    controller.close()
    again = planner.Controller(None, "planner.db")
    found["state, journal read again"] = shown(again.state())
    again.close()
    return found | {f"journal {table}": text for table, text in _tables("planner.db")}


def _state(controller: Any) -> dict[str, str]:
    plan = controller.plan()
    return {
        "state": shown(controller.state()),
        "plan": plan[1].model_dump_json(indent=1) if plan is not None else "nothing runs",
        "violations": shown([violation.message for violation in controller.check()]),
        "line": shown([list(controller.waiting), list(controller.down), controller.num_free]),
    }


def _tables(path: str) -> Iterator[tuple[str, str]]:
    """Rows of a journal with their checksums, but for its identity."""
    database = sqlite3.connect(path)
    yield "tables", str(database.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall())
    for table in TABLES:
        rows = database.execute(f"SELECT * FROM {table}").fetchall()
        rows = sorted(map(repr, rows)) if table not in ("events", "snapshots") else [repr(row) for row in rows]
        yield table, "\n".join(row for row in rows if not row.startswith("('id'"))
    database.close()


@dataclass
class Drive:
    """Events at random, the same for every controller that decides alike."""

    controller: Any
    request: Any
    error: Any
    random: Random = field(default_factory=lambda: Random(7))
    now_s: float = EPOCH_S - 1e6
    number: int = 0
    refused: list[str] = field(default_factory=list)

    def event(self) -> None:
        self.now_s += round(self.random.expovariate(1 / 60), 3)
        kind = self.random.choices(list(ACTS), list(ACTS.values()))[0]
        if kind in ("submit", "batch") and len(self.controller.waiting) > MOST_WAITING:
            kind = "finish"
        try:
            getattr(self, kind)()
        except self.error as error:
            self.refused.append(f"{kind}: {error}")

    def submit(self) -> None:
        self.controller.submit(self._job(), at_s=self.now_s)

    def batch(self) -> None:
        jobs = [self._job() for _ in range(self.random.randint(2, 4))]
        self.controller.submit_all(jobs, at_s=self.now_s, key=f"key{self.number}")

    def finish(self) -> None:
        if running := list(self.controller.running):
            self.controller.finish(self.random.choice(running), at_s=self.now_s)

    def cancel(self) -> None:
        if jobs := [*self.controller.running, *self.controller.waiting]:
            self.controller.cancel(self.random.choice(jobs), at_s=self.now_s)

    def fail(self) -> None:
        if (plan := self.controller.plan()) is None or len(self.controller.down) > 4:
            return
        text = self.random.choice(json.loads(plan[1].model_dump_json())["assignments"])
        beams = [beam for held in text["circuits"] for beam in held["circuits"]]
        fibers = [fiber for beam in beams for fiber in beam["fibers"]]
        part = self.random.choice([*text["devices"], *fibers])
        self.controller.fail(part, at_s=self.now_s)

    def repair(self) -> None:
        if down := self.controller.down:
            self.controller.repair(self.random.choice(down), at_s=self.now_s)

    def drain(self) -> None:
        self.controller.drain(f"s{self.random.randrange(4)}", at_s=self.now_s)

    def undrain(self) -> None:
        if drained := [name for name in self.controller.down if name.removeprefix("s").isdigit()]:
            self.controller.undrain(self.random.choice(drained), at_s=self.now_s)

    def replan(self) -> None:
        self.controller.replan(0.1, at_s=self.now_s)

    def _job(self) -> Any:
        self.number += 1
        size = self.random.choice(SIZES)
        return self.request.model_validate({
            "name": f"j{self.number}", "tenant": self.random.choice("abc"), "accelerators": size,
            "workload": self.random.choice([TRAINING, SERVING, LARGE] if size > 1 else [TRAINING, SERVING]),
            "duration_s": self.random.choice([None, 600, 3600, 36000]), "priority": self.random.choice([0, 0, 0, 1]),
        })  # fmt: skip
