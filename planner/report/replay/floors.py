"""Floors of the clusters, and who held what at some moments, in few bytes."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from planner.model.cluster import Cluster
from planner.report.floor import fabric_facts
from planner.report.replay.sheet import Sheet
from planner.simulate.run_one import Outcome, Study

MOST_BYTES = 600_000
"""of all snapshots on a page, as JSON; further moments are left out"""


def floors(study: Study) -> dict[str, dict[str, Any]]:
    """Facts and servers of each cluster by name; accelerators are named by server, letter and slot."""
    return {name: _floor(ground.cluster) for name, ground in study.grounds.items()}


def _floor(cluster: Cluster) -> dict[str, Any]:
    fabric = cluster.fabric
    names = [fabric.server_name(server) for server in range(fabric.num_servers)]
    return {"fabric": fabric_facts(cluster), "letter": fabric.device_letter, "servers": names}


def snapshots(sheet: Sheet, study: Study) -> dict[str, Any]:
    """Moments by load and run, of the first seed; names are numbers of a list. None where a run has none."""
    names: dict[str, int] = {}
    cells = [[sheet.outcome(load, run, sheet.seeds[0]) for run in sheet.runs] for load in sheet.loads]
    at: list[list[list[dict[str, Any]]]] = [[[] for _ in row] for row in cells]
    kept, left_bytes = 0, MOST_BYTES
    for moment in range(len(study.moments)):
        found = [[_at(outcome, moment, names) for outcome in row] for row in cells]
        left_bytes -= len(json.dumps(found, separators=(",", ":")))
        if left_bytes < 0:
            break
        kept += 1
        for known, row in zip(at, found, strict=True):
            for place, snapshot in zip(known, row, strict=True):
                place += [] if snapshot is None else [snapshot]
    moments = study.moments
    return {"moments": list(moments[:kept]), "left_out": len(moments) - kept, "names": list(names), "at": at}


def _at(outcome: Outcome | None, moment: int, names: dict[str, int]) -> dict[str, Any] | None:
    """What a run held at a moment, if that was noted."""
    if outcome is None or moment >= len(outcome.snapshots):
        return None
    return _short(outcome.snapshots[moment], names)


def _repeated(numbers: Sequence[int]) -> list[int]:
    """Each number and how often it follows itself."""
    return [part for number, group in groupby(numbers) for part in (number, len(list(group)))]


def _short(snapshot: Mapping[str, Any], names: dict[str, int]) -> dict[str, Any]:
    def name(text: str) -> int:
        return names.setdefault(text, len(names))

    def rows(jobs: list[dict[str, Any]]) -> list[list[int]]:
        return [
            [job["number"], name(job["name"]), job["size"], name(job["tenant"]), round(job["since_s"])] for job in jobs
        ]

    kept = ("spare", "failed", "dark", "num_waiting", "asked")
    return {
        "at_s": round(snapshot["at_s"]),
        "owner": _repeated(snapshot["owner"]),
        **{field: snapshot[field] for field in kept},
        "jobs": rows(snapshot["jobs"]),
        "waiting": rows(snapshot["waiting"]),
    }
