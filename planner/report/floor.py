"""Where everything lies: servers and their accelerators, and the circuits of each job."""

from collections import defaultdict
from typing import Any

from planner.fabrics import plugin_of
from planner.fabrics.drawing import Place, place_of
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan


def fabric_facts(cluster: Cluster) -> dict[str, Any]:
    """The machine in words, and the shape of a server."""
    fabric, drawing = cluster.fabric, plugin_of(cluster.fabric).drawing
    return {
        "kind": fabric.kind.replace("_", " "),
        "device": cluster.device.name,
        "servers": fabric.servers,
        "racks": fabric.racks,
        "devices_per_server": fabric.devices_per_server,
        "columns": fabric.devices_per_server // fabric.rows,
        "has_circuits": fabric.has_circuits,
        "has_memory_circuits": drawing.has_memory_circuits,
        "light": drawing.names(fabric),
    }


def owners_of(instance: Instance, plan: Plan | None) -> dict[Place, list[tuple[str, int]]]:
    """Jobs and ranks on each device; a valid plan has at most one. Names that do not exist are left out."""
    owners: dict[Place, list[tuple[str, int]]] = defaultdict(list)
    for assignment in plan.assignments if plan else ():
        for rank, name in enumerate(assignment.devices):
            place = place_of(instance.cluster, name)
            if place is not None:
                owners[place].append((assignment.job, rank))
    return owners


def floor(cluster: Cluster) -> dict[str, Any]:
    """What the name of an accelerator has before its slot, and which accelerators failed or lost their port, by
    number, server after server. Jobs tell which they hold."""
    return {
        "letter": cluster.fabric.device_letter,
        "failed": sorted(number_of(cluster, place) for place in cluster.failed_devices),
        "dark": sorted(number_of(cluster, place) for place in cluster.dark_devices),
    }


def number_of(cluster: Cluster, place: Place) -> int:
    """Number of an accelerator on the page."""
    return place[0] * cluster.fabric.devices_per_server + place[1]


def held_circuits(instance: Instance, assignment: Assignment) -> list[dict[str, Any]]:
    """Configurations of one job: dimension, number within the dimension from 1, and circuits."""
    drawing = plugin_of(instance.cluster.fabric).drawing
    count: dict[str, int] = defaultdict(int)
    shown = []
    for held in assignment.circuits:
        count[held.dimension] += 1
        circuits = [drawing.circuit(instance.cluster, circuit) for circuit in held.circuits]
        name = held.dimension if held.phase is None else f"{held.dimension} in {held.phase}"
        shown.append({"dimension": name, "number": count[held.dimension], "circuits": circuits})
    return shown
