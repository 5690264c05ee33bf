"""Where everything lies: tiles by rack, circuits, and the light on each pair of servers."""

from collections import defaultdict
from typing import Any

from costmodel.fabrics import Lightpath, Sipam
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan
from planner.report.light import Place, circuit_told, light_words, place_of


def fabric_facts(cluster: Cluster) -> dict[str, Any]:
    """The machine in words, and the shape of a server."""
    fabric = cluster.fabric
    return {
        "kind": fabric.kind.replace("_", " "),
        "device": cluster.device.name,
        "servers": fabric.servers,
        "racks": fabric.racks,
        "devices_per_server": fabric.devices_per_server,
        "columns": fabric.devices_per_server // fabric.rows,
        "has_circuits": fabric.has_circuits,
        "has_memory_circuits": isinstance(fabric, Sipam),
        "light": light_words(fabric),
    }


def owners_of(instance: Instance, plan: Plan | None) -> dict[Place, list[tuple[str, int]]]:
    """Jobs and ranks on each device; a valid plan has at most one. Names that do not exist are left out."""
    owners: dict[Place, list[tuple[str, int]]] = defaultdict(list)
    for assignment in plan.assignments if plan else ():
        for rank, name in enumerate(assignment.devices):
            place = place_of(instance, name)
            if place is not None:
                owners[place].append((assignment.job, rank))
    return owners


def racks(instance: Instance, plan: Plan | None, index_of_job: dict[str, int]) -> list[dict[str, Any]]:
    """Servers of each rack with their tiles in the order of slots."""
    fabric = instance.cluster.fabric
    owners = owners_of(instance, plan)
    pages = []
    for rack in range(fabric.racks):
        servers = range(rack * fabric.servers, (rack + 1) * fabric.servers)
        pages.append({
            "name": f"r{rack}" if fabric.racks > 1 else "",
            "servers": [_server(instance, server, owners, index_of_job) for server in servers],
        })  # fmt: skip
    return pages


def _server(
    instance: Instance, server: int, owners: dict[Place, list[tuple[str, int]]], index_of_job: dict[str, int]
) -> dict[str, Any]:
    cluster = instance.cluster
    tiles = []
    for slot in range(cluster.fabric.devices_per_server):
        place = server, slot
        tiles.append({
            "name": cluster.fabric.device_name(server, slot),
            "state": "failed" if place in cluster.failed_devices
            else "dark" if place in cluster.dark_devices else "ok",
            "jobs": [[index_of_job[job], rank] for job, rank in owners.get(place, []) if job in index_of_job],
        })  # fmt: skip
    return {"name": cluster.fabric.server_name(server), "tiles": tiles}


def held_circuits(instance: Instance, assignment: Assignment) -> list[dict[str, Any]]:
    """Configurations of one job: dimension, number within the dimension from 1, and circuits."""
    count: dict[str, int] = defaultdict(int)
    shown = []
    for held in assignment.circuits:
        count[held.dimension] += 1
        circuits = [circuit_told(instance, circuit) for circuit in held.circuits]
        name = held.dimension if held.phase is None else f"{held.dimension} in {held.phase}"
        shown.append({"dimension": name, "number": count[held.dimension], "circuits": circuits})
    return shown


def fiber_matrices(instance: Instance, plan: Plan | None, index_of_job: dict[str, int]) -> list[dict[str, Any]]:
    """For each rack, the light between each ordered pair of servers; () where the fabric has no fibers."""
    fabric = instance.cluster.fabric
    if not isinstance(fabric, Lightpath) or fabric.servers == 1:
        return []
    light: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for assignment in plan.assignments if plan else ():
        for circuit in (c for held in assignment.circuits for c in held.circuits):
            for fiber in circuit.fibers:
                light[fiber] |= {(assignment.job, wavelength) for wavelength in circuit.wavelengths}
    matrices = []
    for rack in range(fabric.racks):
        servers = range(rack * fabric.servers, (rack + 1) * fabric.servers)
        cells = [[_pair(instance, fabric, a, b, light, index_of_job) for b in servers] for a in servers]
        matrices.append({"servers": [fabric.server_name(server) for server in servers], "cells": cells})
    return matrices


def _pair(
    instance: Instance,
    fabric: Lightpath,
    source: int,
    destination: int,
    light: dict[str, set[tuple[str, int]]],
    index_of_job: dict[str, int],
) -> dict[str, Any] | None:
    """Used and usable wavelengths from one server to another; None where there is no fiber."""
    num_fibers = fabric.num_fibers(source, destination)
    if num_fibers == 0:
        return None
    healthy = instance.cluster.healthy_fibers(source, destination)
    names = [fabric.fiber_name(source, destination, index) for index in range(num_fibers)]
    on_fiber = [{wavelength for _, wavelength in light.get(name, ())} for name in names]
    jobs = {job for name in names for job, _ in light.get(name, ())}
    return {
        "used": sum(len(wavelengths) for wavelengths in on_fiber),
        "total": len(healthy) * min(fabric.wavelengths_per_fiber, fabric.wavelengths_per_tile),
        "fibers": num_fibers,
        "fibers_lit": sum(bool(wavelengths) for wavelengths in on_fiber),
        "failed": [names[index] for index in range(num_fibers) if index not in healthy],
        "jobs": sorted(index_of_job[job] for job in jobs if job in index_of_job),
    }
