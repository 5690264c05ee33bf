"""Data of a plan's page as columns: jobs, their devices by number, circuits by the ways that they share."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from planner.fabrics.drawing import place_of
from planner.model.cluster import Cluster
from planner.report.columns import packed, runs, steps
from planner.report.floor import number_of
from planner.report.port_maps import MOST_JOINED

SIDES = ("source", "destination")


def compact(cluster: Cluster, data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a page with its long lists as columns, which `unpack.js` reads."""
    ways = _Ways(cluster)
    jobs = [_job(ways, job) for job in data["jobs"]]
    return {
        **data,
        "jobs": packed(jobs),
        "memory": packed(_memory(ways, data["jobs"])),
        "ways": packed([json.loads(text) for text in ways.number]),
        "matrices": _matrices(data["matrices"]),
        "port_maps": _port_maps(ways, data["port_maps"]),
        "left_out": packed(data["left_out"]),
    }


class _Ways:
    """What circuits differ in besides their ends, each once."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.number: dict[str, int] = {}

    def end(self, name: str) -> int | str:
        """Number of an accelerator, or the name of another end."""
        place = place_of(self._cluster, name)
        return name if place is None else number_of(self._cluster, place)

    def configuration(self, held: Mapping[str, Any]) -> dict[str, Any]:
        circuits = held["circuits"]
        return {
            **held,
            "circuits": [_ends([self.end(each[name]) for each in circuits]) for name in SIDES]
            + [steps([self._way(each) for each in circuits])],
        }

    def _way(self, circuit: Mapping[str, Any]) -> int:
        head, *lines = circuit["lines"]
        sign = head.removeprefix(circuit["source"]).removesuffix(circuit["destination"]).strip()
        way = {
            "kind": circuit["kind"],
            "width": circuit["width"],
            "sign": sign,
            "lines": lines,
            "cells": circuit["cells"][2:],
        }
        return self.number.setdefault(json.dumps(way), len(self.number))


def _ends(ends: list[int | str]) -> Any:
    """Ends of circuits, or `steps` where all are accelerators."""
    numbers = [end for end in ends if isinstance(end, int)]
    return steps(numbers) if len(numbers) == len(ends) else ends


def _memory(ways: _Ways, jobs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Memory circuits of all jobs: ports and units by what follows the name of their tray."""
    rows = []
    for number, job in enumerate(jobs):
        for device, rail, port, units, phase in job["plan"]["memory"] if job["plan"] else ():
            tray, _, own = port.rpartition(".")
            behind = [int(unit.removeprefix(f"{tray}.u")) for unit in units.split(", ")]
            row = {"rail": rail, "tray": tray, "port": own, "units": runs(behind), "phase": phase}
            rows.append({"job": number, "device": ways.end(device), **row})
    return rows


def _port_maps(ways: _Ways, maps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Switches by name in the order of their numbers, what they join by the number of the switch."""
    ordered = sorted(maps, key=lambda each: _natural(each["switch"]))
    rows = [{**row, "switch": number} for number, each in enumerate(ordered) for row in each["joined"]]
    shown = rows[:MOST_JOINED]
    ends = {name: at for at, name in enumerate(dict.fromkeys(row[side] for row in shown for side in SIDES))}
    return {
        "ends": [ways.end(name) for name in ends],
        "switches": [each["switch"] for each in ordered],
        "has_ports": any(row["from"] for row in rows),
        "left_out": max(len(rows) - MOST_JOINED, 0),
        "joined": packed([{**row, **{side: ends[row[side]] for side in SIDES}} for row in shown]),
    }


def _natural(name: str) -> list[tuple[str, int]]:
    """Names in the order of their numbers: q2 before q10."""
    return [(text, int(number or 0)) for text, number in re.findall(r"(\D+)(\d*)", name)]


def _job(ways: _Ways, job: Mapping[str, Any]) -> dict[str, Any]:
    plan = job["plan"]
    if plan is None:
        return dict(job)
    ends = [ways.end(name) for name in plan["devices"]]
    known = [end if isinstance(end, int) else None for end in ends]
    parts = {name: _named(plan[name]) for name in ("time_s", "energy_j")}
    circuits = [ways.configuration(held) for held in plan["circuits"]]
    pools = plan.get("pools", [])
    shown = {name: value for name, value in plan.items() if name != "memory"}
    return {**job, "plan": {**shown, **parts, "devices": runs(known), "circuits": circuits, "pools": pools}}


def _named(parts: Sequence[Sequence[Any]] | None) -> dict[str, Any] | None:
    return None if parts is None else {"names": [name for name, _ in parts], "values": [value for _, value in parts]}


def _matrices(matrices: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Of each pair of servers what is not the same for most pairs."""
    cells = [
        (rack, source, destination, cell)
        for rack, matrix in enumerate(matrices)
        for source, row in enumerate(matrix["cells"])
        for destination, cell in enumerate(row)
        if source != destination
    ]
    written = Counter(json.dumps(cell) for *_, cell in cells)
    usual = json.loads(written.most_common(1)[0][0]) if written else None
    rows = [
        {"rack": rack, "from": source, "to": destination, "pair": cell}
        for rack, source, destination, cell in cells
        if cell != usual
    ]
    return {"racks": len(matrices), "usual": usual, "pairs": packed(rows)}
