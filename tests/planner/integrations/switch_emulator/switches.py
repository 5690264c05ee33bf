"""Switches for tests, on a clock that stands until it is moved."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from planner.integrations.switch_emulator import Emulator, FaultKind, FaultRate, RequestClass, SwitchSpec
from planner.integrations.switch_emulator.http_messages import YANG_JSON, HttpRequest, HttpResponse

SETTLING_S = 0.01
ALL = ["1A-1B", "2A-2B", "3A-3B"]
TABLES = "/restconf/data/sonic-ocs:sonic-ocs"
BULK = "/restconf/operations/sonic-ocs:bulk-update"


@dataclass
class Clock:
    """Seconds."""

    now_s: float = 100.0

    def __call__(self) -> float:
        return self.now_s


@dataclass
class Rig:
    """One emulator and plain requests to its first switch."""

    emulator: Emulator
    clock: Clock
    name: str = field(default="")

    def __post_init__(self) -> None:
        self.name = self.name or next(iter(self.emulator.switches))

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> HttpResponse | None:
        given = {"content-type": YANG_JSON} | {key.replace("_", "-"): value for key, value in headers.items()}
        raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        path, _, query = path.partition("?")
        return self.emulator.answer(self.name, HttpRequest(method, path, given, raw, query))

    def said(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Status and what stands in the body."""
        answer = self.ask(method, path, body, **headers)
        assert answer is not None
        return answer.status, json.loads(answer.body) if answer.body else None

    def bulk(self, delete: Sequence[str] = (), add: Sequence[str] = ()) -> tuple[int, Any]:
        entries = [entry(name) for name in add]
        return self.said("POST", BULK, {"sonic-ocs:input": {"delete": list(delete), "add": entries}})

    def rows(self, table: str) -> list[dict[str, Any]]:
        status, body = self.said("GET", f"{TABLES}/{table}")
        assert status == 200
        (held,) = body.values()
        (rows,) = held.values()
        return list(rows)

    def states(self) -> dict[str, str]:
        """Of circuits."""
        return {row["cross_connect_id"]: row["status"] for row in self.rows("OCS_CROSS_CONNECT_TABLE")}

    def ports(self, leaf: str = "oper_status") -> dict[str, str]:
        """A leaf of each port that has it."""
        return {row["simplex_port_id"]: row[leaf] for row in self.rows("OCS_PORT_TABLE") if leaf in row}

    def settle(self) -> None:
        self.clock.now_s += SETTLING_S


def rig(*rates: FaultRate, ports: int = 8, vocabulary: str = "oper_status", seed: int = 0) -> Rig:
    clock = Clock()
    specs = [SwitchSpec("ocs0", ports), SwitchSpec("ocs1", ports)]
    emulator = Emulator(specs, seed=seed, settling_s=SETTLING_S, vocabulary=vocabulary, rates=rates, clock=clock)
    return Rig(emulator, clock)


def entry(name: str) -> dict[str, str]:
    """1A-2B as an entry."""
    a_side, _, b_side = name.partition("-")
    return {"cross_connect_id": name, "a_side": a_side, "b_side": b_side}


def before_fault(request_class: RequestClass, kind: FaultKind, seed: int = 0) -> Rig:
    """Three of four circuits on, and a fault at the next request of a class."""
    made = rig(seed=seed)
    made.bulk(add=ALL)
    made.settle()
    made.emulator.faults["ocs0"].plan(request_class, kind)
    return made


def names(made: Rig) -> set[str]:
    return {row["cross_connect_id"] for row in made.rows("OCS_CROSS_CONNECT")}
