"""A small controller that reads back passes before the referee under all faults; each slip of it is found."""

import random
from dataclasses import dataclass, field, replace

import pytest

from planner.integrations.switch_emulator import FaultKind, FaultRate, Finding, Holding, RequestClass, judge
from tests.planner.integrations.switch_emulator.switches import BULK, TABLES, Rig, entry, rig

FAULTS = (FaultKind.HALF, FaultKind.LIE, FaultKind.ERROR, FaultKind.HANG, FaultKind.DROP, FaultKind.CHANGE,
          FaultKind.RESTART)  # fmt: skip
TURNS, TICK_S, PORTS = 150, 0.004, 12


@dataclass
class Controller:
    """Jobs of one circuit each on one switch, level-triggered; `slip` is what it does wrong."""

    made: Rig
    chance: random.Random
    slip: str = ""
    jobs: dict[str, Holding] = field(default_factory=dict)
    """those that hold ports"""
    ending: set[str] = field(default_factory=set)
    past: list[Holding] = field(default_factory=list)

    def turn(self, number: int) -> None:
        """One may come, one may end; then switch and wishes are compared."""
        used = {port for job in self.jobs.values() for _, *sides in job.circuits for port in sides}
        free = [[port for port in self.sides(side) if port not in used] for side in "AB"]
        if all(free) and self.chance.random() < 0.5:
            sides = [self.chance.choice(each) for each in free]
            holding = Holding(f"j{number}", frozenset({("ocs0", sides[0], sides[1])}), self.made.clock.now_s)
            started = self.made.clock.now_s if self.slip == "starts at once" else None
            self.jobs[holding.job] = replace(holding, started_s=started)
        if self.jobs and self.chance.random() < 0.4:
            self.ending.add(self.chance.choice(list(self.jobs)))
        self.reconcile()

    def reconcile(self) -> None:
        seen = self.read()
        if seen is None:
            return
        wanted = {_name(job) for name, job in self.jobs.items() if name not in self.ending}
        wrong = {name for name, state in seen.items() if state == "wrong"}
        deletes = sorted((set(seen) - wanted) | wrong)
        if self.slip == "never deletes":
            deletes = []
        adds = sorted((wanted - set(seen)) | (wrong & wanted))
        told = None
        if deletes or adds:
            body = {"sonic-ocs:input": {"delete": deletes, "add": [entry(name) for name in adds]}}
            answer = self.made.ask("POST", BULK, body)
            told = None if answer is None or answer.status != 200 else answer
        if self.slip == "believes replies" and told is not None:
            self.end(set())
        seen = self.read()
        if seen is None:
            return
        self.end(set() if self.slip == "never deletes" else set(seen))
        for name, job in self.jobs.items():
            if job.started_s is None and seen.get(_name(job)) == "lit" and name not in self.ending:
                self.jobs[name] = replace(job, started_s=self.made.clock.now_s)

    def end(self, listed: set[str]) -> None:
        """Jobs whose circuits are gone."""
        for name in sorted(self.ending):
            if _name(self.jobs[name]) not in listed:
                self.past.append(replace(self.jobs.pop(name), until_s=self.made.clock.now_s))
                self.ending.remove(name)

    def read(self) -> dict[str, str] | None:
        """Circuits as lit, tuning or wrong; None where the switch does not tell."""
        answers = [self.made.ask("GET", f"{TABLES}/{name}") for name in ("OCS_CROSS_CONNECT", "OCS_PORT_TABLE")]
        if any(answer is None or answer.status != 200 for answer in answers):
            return None
        names = [row["cross_connect_id"] for row in self.made.rows("OCS_CROSS_CONNECT")]
        targets, states = self.made.ports("target_simplex_port_id"), self.made.ports()
        found = {}
        for name in names:
            a_side, b_side = name.split("-")
            is_lit = states[a_side] == states[b_side] == "connected"
            found[name] = "wrong" if targets.get(a_side) != b_side else "lit" if is_lit else "tuning"
        return found

    def sides(self, side: str) -> list[str]:
        return [f"{number}{side}" for number in range(1, PORTS // 2 + 1)]


def _name(job: Holding) -> str:
    ((_, a_side, b_side),) = job.circuits
    return f"{a_side}-{b_side}"


def blamed(slip: str, seed: int) -> tuple[list[Finding], int]:
    """What a controller is to blame for, and how many faults it met."""
    made = rig(*(FaultRate(RequestClass.BULK, kind, 0.06) for kind in FAULTS), ports=PORTS, seed=seed)
    controller = Controller(made, random.Random(seed), slip)
    for number in range(TURNS):
        controller.turn(number)
        made.clock.now_s += TICK_S
    holdings = [*controller.past, *controller.jobs.values()]
    found = judge(made.emulator.light(), holdings, now_s=made.clock.now_s)
    assert sum(job.started_s is not None for job in holdings) > 0
    return [each for each in found if each.is_by_request and each.kind != "dark"], len(made.emulator.happened)


@pytest.mark.parametrize("seed", range(4))
def test_who_reads_back_is_to_blame_for_nothing(seed: int) -> None:
    found, faults = blamed("", seed)
    assert found == []
    assert faults > 0


@pytest.mark.parametrize(
    ("slip", "kinds"),
    [
        ("starts at once", {"early"}),
        ("believes replies", {"leaked"}),
        ("never deletes", {"leaked", "wrong"}),
    ],
)
def test_every_slip_is_found(slip: str, kinds: set[str]) -> None:
    found = [each.kind for seed in range(4) for each in blamed(slip, seed)[0]]
    assert kinds <= set(found)
