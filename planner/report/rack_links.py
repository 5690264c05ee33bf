"""The layer above racks: links in use from rack to rack, or out of each rack where packets are switched."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from planner.fabrics.rack_claims import links_held, rack_name
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan


def rack_links(instance: Instance, plan: Plan | None, index_of_job: Mapping[str, int]) -> dict[str, Any] | None:
    """Racks, and an arc for each two that exchange something: links in use, those that there are, and jobs; None where
    racks are not joined. Light of switches can go from any rack to any other: there are as many as a rack has ports."""
    cluster, upper = instance.cluster, instance.cluster.fabric.upper_layer
    if upper is None:
        return None
    used: Counter[tuple[int, ...]] = Counter()
    jobs: dict[tuple[int, ...], set[int]] = {}
    for assignment in plan.assignments if plan else ():
        for pair, links in _between(instance, assignment).items():
            used[pair] += links
            jobs.setdefault(pair, set()).add(index_of_job[assignment.job])
    working = {part: sum(links.values()) for part, links in cluster.upper_links.items()}
    return {
        "kind": getattr(upper, "kind", ""),
        "link": upper.link_name,
        "racks": [rack_name(rack) for rack in range(cluster.fabric.racks)],
        "failed": list(cluster.health.failed_upper),
        "arcs": [
            {
                "from": pair[0],
                "to": pair[1] if len(pair) > 1 else None,
                "used": links,
                "total": working.get(pair, working.get(pair[:1], 0)),
                "jobs": sorted(jobs[pair]),
            }
            for pair, links in sorted(used.items())
        ],
    }


def _between(instance: Instance, assignment: Assignment) -> Mapping[tuple[int, ...], int]:
    """Links of a job by ordered pair of racks, or by rack where it holds no circuits."""
    if not assignment.upper:
        return links_held(instance.cluster.fabric, assignment.configuration, assignment.devices)
    links: Counter[tuple[int, ...]] = Counter()
    for circuit in assignment.upper:
        ends = (int(end.partition(".")[0][1:]) for end in (circuit.source, circuit.destination))
        links[tuple(ends)] += len(circuit.wavelengths) or 1
    return links


def rack_circuits(assignment: Assignment) -> list[dict[str, Any]]:
    """Circuits between the racks of a job, as those between its accelerators are told; none where it has none."""
    if not assignment.upper:
        return []
    told = []
    for circuit in assignment.upper:
        width = len(circuit.wavelengths) or 1
        wavelengths = ", ".join(map(str, circuit.wavelengths)) or "–"
        told.append({
            "source": circuit.source, "destination": circuit.destination, "kind": "beyond", "width": width,
            "lines": [f"{circuit.source} → {circuit.destination}", circuit.over],
            "cells": [circuit.source, circuit.destination, wavelengths, circuit.over],
        })  # fmt: skip
    return [{"dimension": "between racks", "number": 1, "circuits": told}]
