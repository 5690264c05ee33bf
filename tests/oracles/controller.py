"""A controller's journal replayed the plain way: JSON in, dictionaries out, nothing of planner.controller is used."""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Body = dict[str, Any]


class Replayed:
    """Jobs, health and what is held after some events, from what the journal wrote of them."""

    def __init__(self) -> None:
        self.jobs: dict[str, Body] = {}
        self.growths: dict[str, Body] = {}
        """running jobs that wait for more, as they are to be"""
        self.failed: list[str] = []
        self.drained: list[str] = []
        self.keepers: dict[str, dict[str, str]] = {"failed": {}, "drained": {}}
        self.reserved: Body = {"d": "reserve", "job": None, "servers": [], "at_s": None}
        self.now_s = 0.0
        self.arrived = 0
        self.events = 0

    def event(self, body: Body, decisions: list[Body]) -> None:
        self.events, self.now_s = self.events + 1, body["at_s"]
        if body.get("noted"):
            return
        if body["e"] == "submit":
            for request, kind in zip(body["jobs"], body["kinds"], strict=True):
                assert request["name"] not in self.jobs
                self.jobs[request["name"]] = self._arrived(request, kind)
        elif body["e"] == "shrink":
            self._shrinks(body, decisions)
        elif body["e"] == "grow":
            self._grows(body, decisions)
        elif body["e"] in ("fail", "drain"):
            self._goes_down(body, "failed" if body["e"] == "fail" else "drained")
        elif body["e"] == "undrain":
            self._comes_back(body, "drained")
        elif body["e"] == "repair":
            self._comes_back(body, "failed")
            if "keeper" not in body:
                self._comes_back(body, "drained")
        for decision in decisions:
            self._decision(decision)

    def _arrived(self, request: Body, kind: str) -> Body:
        """A job that gets a place in the queue."""
        self.arrived += 1
        return {
            "request": request, "kind": kind, "number": self.arrived - 1, "arrived_s": self.now_s, "place": None,
            "started_s": 0.0, "pause_s": 0.0, "preempted": 0, "wait": None,
        }  # fmt: skip

    def _shrinks(self, body: Body, decisions: list[Body]) -> None:
        """The job goes on with the accelerators that it named, in the order in which it had them."""
        name, had = body["job"]["name"], _devices(self.jobs[body["job"]["name"]]["place"])
        now = [_devices(each["place"]) for each in decisions if (each["d"], each["job"]) == ("move", name)]
        kept = [_numbers(device) for device in body["kept"]]
        most = max(server for server, _ in had) + 1
        places = [{(rack * size + server, slot) for rack, server, slot in kept} for size in range(1, most + 1)]
        assert now in [[[device for device in had if device in each]] for each in places if len(each) == len(kept)], (
            f"{name} does not keep what it asked for"
        )
        self.growths.pop(name, None)
        self.jobs[name] |= {"request": body["job"], "kind": body["kinds"][0]}

    def _grows(self, body: Body, decisions: list[Body]) -> None:
        """The job goes on with more, or waits for them, or for no more than it has."""
        name, kind = body["job"]["name"], body["kinds"][0]
        waited, job = self.growths.pop(name, None), self.jobs[name]
        moves = [each for each in decisions if each["job"] == name and each["d"] == "move"]
        if body.get("queued"):
            assert body["waits"], f"{name} waits unasked"
            self.growths[name] = self._arrived(body["job"], kind)
        elif waited is None or (job["request"], job["kind"]) != (body["job"], kind):
            assert len(moves) == 1, f"{name} neither grows nor waits"
            self._is_larger(name, moves[0])
            self.jobs[name] |= {"request": body["job"], "kind": kind}

    def _is_larger(self, name: str, move: Body) -> None:
        """It has what it had, each rank where it was and without a pause, and more."""
        had, now = _devices(self.jobs[name]["place"]), _devices(move["place"])
        assert (now[: len(had)], move["downtime_s"]) == (had, 0), f"{name} does not keep what it had"
        assert len(had) < len(now) == len(set(now)), f"{name} has no more than it had"
        others = [_devices(job["place"]) for each, job in self.jobs.items() if each != name and job["place"]]
        assert not {*now} & {device for held in others for device in held}, f"{name} takes what another has"

    def _ends_to_wait(self, name: str, move: Body) -> None:
        """A job that waits to grow has more than before, by a row of what it asked for; others may have left or moved
        at the same event."""
        growth, job = self.growths.get(name), self.jobs[name]
        had, now = _devices(job["place"]), _devices(move["place"])
        if growth is not None and growth["kind"] == move["place"]["kind"]:
            assert move["downtime_s"] or now[: len(had)] == had, f"{name} does not keep what it had"
            job |= {"request": growth["request"], "kind": growth["kind"]}
            del self.growths[name]

    def _goes_down(self, body: Body, what: str) -> None:
        names, keepers = getattr(self, what), self.keepers[what]
        name, keeper = body.get("part", body.get("server")), body.get("keeper")
        assert name not in names or (keepers[name] and not keeper), f"{name} is {what} already"
        if name not in names:
            names.append(name)
        keepers.pop(name, None)
        if keeper:
            keepers[name] = keeper

    def _comes_back(self, body: Body, what: str) -> None:
        name = body.get("part", body.get("server"))
        assert body.get("keeper") in (None, self.keepers[what].get(name)), f"{name} is another's to put back"
        setattr(self, what, [one for one in getattr(self, what) if one != name])
        self.keepers[what].pop(name, None)

    def _decision(self, decision: Body) -> None:
        if decision["d"] == "reserve":
            self.reserved = decision
            return
        job = self.jobs[decision["job"]]
        if decision["d"] == "wait":
            self.growths.get(decision["job"], job)["wait"] = decision
        elif decision["d"] == "stop":
            assert decision["before"] == job["place"]
            job["place"], job["stopped_s"] = None, self.now_s
            self.growths.pop(decision["job"], None)
            job["preempted"] += decision["why"] == "preempted"
            if not decision["waits"]:
                del self.jobs[decision["job"]]
        elif decision["d"] == "move":
            assert decision["before"] == job["place"] is not None
            self._ends_to_wait(decision["job"], decision)
            job["place"], job["wait"] = decision["place"], None
            job["pause_s"] += decision["downtime_s"]
        else:
            assert job["place"] is None, f"{decision['job']} starts twice"
            job.pop("stopped_s", None)
            job["place"], job["wait"], job["started_s"], job["pause_s"] = decision["place"], None, self.now_s, 0.0

    def held(self) -> dict[str, tuple[int, int]]:
        """Accelerators and optical ports by tenant, of those that hold any."""
        held: dict[str, tuple[int, int]] = {}
        for job in self.jobs.values():
            if job["place"] is not None:
                number = len(job["place"]["devices"]) // 2
                ports = number if job["place"]["wiring"] != EMPTY else 0
                tenant = job["request"].get("tenant", "default")
                before = held.get(tenant, (0, 0))
                held[tenant] = before[0] + number, before[1] + ports
        return held

    def state(self) -> Body:
        """What a controller's `state` must be, but for the use of tenants."""
        return {
            "now_s": self.now_s, "num_arrived": self.arrived, "jobs": list(self.jobs.values()), "failed": self.failed,
            "drained": self.drained, "reserved": self.reserved,
        } | ({"keepers": self.keepers} if any(self.keepers.values()) else {}) | (
            {"growths": list(self.growths.values())} if self.growths else {}
        )  # fmt: skip


def _devices(place: Body) -> list[tuple[int, int]]:
    """Server and slot of each rank."""
    return list(zip(place["devices"][::2], place["devices"][1::2], strict=True))


def _numbers(device: str) -> tuple[int, int, int]:
    """Rack, server in it and slot of a name such as r1.s0.g3; the rack is 0 where there is one."""
    *rack, server, slot = map(int, re.findall(r"\d+", device))
    return rack[0] if rack else 0, server, slot


class World:
    """Accelerators and switches, to which decisions are done as drivers are told to: first all that is given back, then
    all that is taken. What is not there to give back, or not free to take, is a fault."""

    def __init__(self) -> None:
        self.owners: dict[str, str] = {}
        self.rays: dict[tuple[str, int], str] = {}
        self.on: dict[str, Any] = {}

    def carry_out(self, decisions: Sequence[Any], down: set[str]) -> list[str]:
        """`down`: failed parts and servers, and drained servers; all faults."""
        told = [decision.body() for decision in decisions]
        found: list[str] = []
        for decision, body in zip(decisions, told, strict=True):
            if body["d"] in ("stop", "move") and decision.before is not None:
                found += self._give_back(decision.job, decision.before)
        for decision, body in zip(decisions, told, strict=True):
            if body["d"] in ("start", "move"):
                stays = body["d"] == "move" and not body["downtime_s"]
                found += self._take(decision.job, decision.place, down, decision.before.device_names if stays else ())
        return found

    def _give_back(self, job: str, place: Any) -> list[str]:
        held = {device for device, owner in self.owners.items() if owner == job}
        if held != set(place.device_names) or self.on.get(job) != place.circuits:
            return [f"{job} gives back {place.device_names}, not what it holds"]
        self.owners = {device: owner for device, owner in self.owners.items() if owner != job}
        self.rays = {ray: owner for ray, owner in self.rays.items() if owner != job}
        del self.on[job]
        return []

    def _take(self, job: str, place: Any, down: set[str], stays: Sequence[str]) -> list[str]:
        """Who does not pause goes on where it `stays`, though its server is drained."""
        found = [f"{job} holds something already"] if job in self.on else []
        for name in place.device_names:
            is_down = name not in stays and {name, name.rpartition(".")[0]} & down
            if self.owners.setdefault(name, job) != job or is_down:
                found.append(f"{name} is not free for {job}")
        for held in place.circuits:
            for circuit in held.circuits:
                for ray in ((f, w) for f in circuit.fibers if ">" in f for w in circuit.wavelengths):
                    if self.rays.setdefault(ray, job) != job or ray[0] in down:
                        found.append(f"{ray} is not free for {job}")
        self.on[job] = place.circuits
        return found


EMPTY = "4f53cda18c2baa0c0354bb5f"
"""name of the wiring without circuits: the hash of []"""


def replayed(path: Path) -> Replayed:
    """All of a journal."""
    database = sqlite3.connect(path)
    try:
        rows = database.execute("SELECT body, decisions FROM events ORDER BY seq").fetchall()
    finally:
        database.close()
    found = Replayed()
    for body, decisions in rows:
        found.event(json.loads(body), json.loads(decisions))
    return found


def faults(running: dict[str, Any], failed: set[str], per_server: int) -> list[str]:
    """What is held twice, or although it has failed, by the names that decisions give: `running` are places by job."""
    owners: dict[str, str] = {}
    rays: dict[tuple[str, int], str] = {}
    found = []
    for job, place in running.items():
        names, several = place.device_names, len(place.device_names) > 1
        for name in names:
            if name in owners:
                found.append(f"{name} belongs to {owners[name]} and {job}")
            if name in failed or name.rpartition(".")[0] in failed or (several and f"{name}:port" in failed):
                found.append(f"{job} runs on failed {name}")
            owners[name] = job
        for held in place.circuits:
            ends: Counter[tuple[str, str, int]] = Counter()
            for circuit in held.circuits:
                for wavelength in circuit.wavelengths:
                    ends["from", circuit.source, wavelength] += 1
                    ends["to", circuit.destination, wavelength] += 1
                    for fiber in (name for name in circuit.fibers if ">" in name):
                        if rays.setdefault((fiber, wavelength), job) != job:
                            found.append(f"{fiber} wavelength {wavelength}: {rays[fiber, wavelength]} and {job}")
                        if fiber in failed:
                            found.append(f"{job} uses failed {fiber}")
                if not {circuit.source, circuit.destination} <= set(names):
                    found.append(f"{job}: a circuit ends elsewhere")
            if held.dimension == "slice":
                continue
            found += [f"{job}: {end} is used {count} times" for end, count in ends.items() if count > 1]
    on_server = Counter(name.rpartition(".")[0] for name in owners)
    return found + [f"{server} hosts {count}" for server, count in on_server.items() if count > per_server]
