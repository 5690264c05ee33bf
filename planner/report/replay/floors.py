"""Floors of the clusters, and who held what at some moments, in few bytes."""

from collections.abc import Mapping
from typing import Any

from planner.model.cluster import Cluster
from planner.report.floor import fabric_facts
from planner.report.replay.sheet import Sheet
from planner.simulate.run_one import Study

MOST_TILES = 60_000
"""of all snapshots on a page; further moments are left out"""


def floors(study: Study) -> dict[str, dict[str, Any]]:
    """Racks, servers and devices of each cluster by name."""
    return {name: {"fabric": fabric_facts(g.cluster), "racks": _racks(g.cluster)} for name, g in study.grounds.items()}


def _racks(cluster: Cluster) -> list[dict[str, Any]]:
    fabric = cluster.fabric
    slots = range(fabric.devices_per_server)
    return [
        {
            "name": f"r{rack}" if fabric.racks > 1 else "",
            "servers": [
                {"name": fabric.server_name(server), "tiles": [fabric.device_name(server, slot) for slot in slots]}
                for server in range(rack * fabric.servers, (rack + 1) * fabric.servers)
            ],
        }
        for rack in range(fabric.racks)
    ]


def snapshots(sheet: Sheet, study: Study) -> dict[str, Any]:
    """Moments by load and run, of the first seed; names are numbers of a list. None where a run has none."""
    names: dict[str, int] = {}
    tiles = sum(study.grounds[cluster].capacity for cluster, _ in sheet.runs) * len(sheet.loads)
    most = MOST_TILES // tiles if tiles else 0
    found = []
    for load in sheet.loads:
        row = []
        for run in sheet.runs:
            outcome = sheet.outcome(load, run, sheet.seeds[0])
            row.append([_short(each, names) for each in outcome.snapshots[:most]] if outcome is not None else [])
        found.append(row)
    moments = study.moments
    return {"moments": list(moments[:most]), "left_out": len(moments[most:]), "names": list(names), "at": found}


def _short(snapshot: Mapping[str, Any], names: dict[str, int]) -> dict[str, Any]:
    def name(text: str) -> int:
        return names.setdefault(text, len(names))

    def rows(jobs: list[dict[str, Any]]) -> list[list[int]]:
        return [
            [job["number"], name(job["name"]), job["size"], name(job["tenant"]), round(job["since_s"])] for job in jobs
        ]

    kept = ("owner", "spare", "failed", "dark", "num_waiting", "asked")
    return {
        "at_s": round(snapshot["at_s"]),
        **{field: snapshot[field] for field in kept},
        "jobs": rows(snapshot["jobs"]),
        "waiting": rows(snapshot["waiting"]),
    }
