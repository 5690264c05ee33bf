"""Circuits over fibers, with wavelengths and losses, and how full the fibers between servers are."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from costmodel.fabrics import FabricBase, Lightpath
from planner.fabrics.drawing import INSIDE, NO_CIRCUITS, Drawing, counted, place_of, ranges, side_of
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.plan import Circuit, Plan

Used = Mapping[str, set[tuple[str, int]]]
"""by fiber, job and wavelength"""


class LightpathDrawing(Drawing):
    """A circuit has wavelengths; it stays in its server or takes fibers."""

    memory_unit = "module"
    memory_port = "wavelength"

    def names(self, fabric: FabricBase) -> dict[str, Any]:
        return NO_CIRCUITS | {
            "channels": "wavelengths",
            "columns": ["from", "to", "wavelengths", "fibers", "loss"],
            "inside": "circuit inside a server",
            "beyond": "circuit over a fiber",
        }

    def path(self, cluster: Cluster, circuit: Circuit) -> tuple[str, list[str], list[str]]:
        fabric, fibers, side = cluster.fabric, ", ".join(circuit.fibers), side_of(cluster, circuit)
        assert isinstance(fabric, Lightpath)
        loss, budget = loss_db(cluster, circuit), fabric.loss_budget_db
        most = "" if budget is None else f" of {budget:.4g} dB"
        plural = "s" * (len(circuit.fibers) > 1)
        way = "inside the server" if side == INSIDE else f"fiber{plural} {fibers or 'unknown'}"
        wavelengths = ranges(circuit.wavelengths)
        lines = [f"{counted(circuit, 'wavelength', 'wavelengths')}: {wavelengths}", way]
        lines.append("loss unknown: no such path" if loss is None else f"loss {loss:.4g} dB{most}")
        return side, lines, [wavelengths, fibers or "–", "–" if loss is None else f"{loss:.4g} dB"]

    def own_view(self, cluster: Cluster) -> dict[str, Any] | None:
        """Wavelengths of a fiber."""
        fabric = cluster.fabric
        assert isinstance(fabric, Lightpath)
        return {"kind": "fibers", "wavelengths": fabric.wavelengths_per_fiber}

    def fiber_matrices(
        self, instance: Instance, plan: Plan | None, index_of_job: Mapping[str, int]
    ) -> list[dict[str, Any]]:
        fabric = instance.cluster.fabric
        assert isinstance(fabric, Lightpath)
        if fabric.servers == 1:
            return []
        used: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
        for assignment in plan.assignments if plan else ():
            for circuit in (c for held in assignment.circuits for c in held.circuits):
                for fiber in circuit.fibers:
                    used[fiber] |= {(assignment.job, wavelength) for wavelength in circuit.wavelengths}
        matrices = []
        for rack in range(fabric.racks):
            servers = range(rack * fabric.servers, (rack + 1) * fabric.servers)
            cells = [[_pair(instance.cluster, fabric, (a, b), used, index_of_job) for b in servers] for a in servers]
            matrices.append({"servers": [fabric.server_name(server) for server in servers], "cells": cells})
        return matrices


def _pair(
    cluster: Cluster, fabric: Lightpath, pair: tuple[int, int], used: Used, index_of_job: Mapping[str, int]
) -> dict[str, Any] | None:
    """Used and usable wavelengths from one server to another; None where there is no fiber."""
    num_fibers = fabric.num_fibers(*pair)
    if num_fibers == 0:
        return None
    healthy = cluster.healthy_fibers(*pair)
    names = [fabric.fiber_name(*pair, index) for index in range(num_fibers)]
    on_fiber = [{wavelength for _, wavelength in used.get(name, ())} for name in names]
    jobs = {job for name in names for job, _ in used.get(name, ())}
    return {
        "used": sum(len(wavelengths) for wavelengths in on_fiber),
        "total": len(healthy) * min(fabric.wavelengths_per_fiber, fabric.wavelengths_per_tile),
        "fibers": num_fibers,
        "fibers_lit": sum(bool(wavelengths) for wavelengths in on_fiber),
        "failed": [names[index] for index in range(num_fibers) if index not in healthy],
        "jobs": sorted(index_of_job[job] for job in jobs if job in index_of_job),
    }


def loss_db(cluster: Cluster, circuit: Circuit) -> float | None:
    """Loss in dB on the whole path of a circuit; None where the fabric has no such path."""
    fabric = cluster.fabric
    assert isinstance(fabric, Lightpath)
    source, destination = (place_of(cluster, end) for end in (circuit.source, circuit.destination))
    if source is None or destination is None:
        return None
    try:
        route = fabric.route(source[0], circuit.fibers, destination[0])
    except ValueError:
        return None
    return fabric.loss_db(len(fabric.crossed(source, route, destination)), len(route))
