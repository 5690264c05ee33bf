"""Devices of jobs."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from planner.checks.columns import Bools, chosen, columns, marked
from planner.checks.names import Tile, tile_of, tiles_in
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan
from planner.model.violation import Violation


def check_placement(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """One device for each rank: known, healthy, lit if the job has several, and of one job only."""
    owners: dict[str, str] = {}
    cluster = instance.cluster
    failed = tiles_in(cluster, cluster.health.failed_tiles)
    dark = tiles_in(cluster, cluster.health.failed_ports)
    for job, assignment in chosen(instance, plan, _suspects(instance, plan, failed | dark)):
        excess = abs(len(assignment.devices) - assignment.configuration.num_devices)
        if excess:
            message = (
                f"{job.name}: {len(assignment.devices)} accelerators for {assignment.configuration.num_devices} ranks"
            )
            yield Violation("placement", job.name, message, float(excess))
        yield from _check_devices(cluster, assignment, failed, dark)
        if owners.keys().isdisjoint(assignment.devices):
            owners.update(dict.fromkeys(assignment.devices, job.name))
            continue
        for name in dict.fromkeys(assignment.devices):
            if name in owners:
                message = f"{name} belongs to {owners[name]} and to {job.name}"
                yield Violation("placement", f"{job.name}: {name}", message)
            owners.setdefault(name, job.name)


def _suspects(instance: Instance, plan: Plan, unfit: set[Tile]) -> Bools:
    """Jobs that may break the rule: all that have the wrong number of devices, or one that is unknown, unfit or
    another's too."""
    placed, fabric = columns(instance, plan), instance.cluster.fabric
    num_owners = np.bincount(placed.device + 1, minlength=fabric.num_devices + 1)[1:]
    is_suspect = (placed.device < 0) | marked(fabric, unfit)[placed.device]
    is_suspect |= num_owners[placed.device] > 1
    return np.asarray(placed.jobs_with(is_suspect) | (placed.num_devices != placed.ranks))


def _check_devices(cluster: Cluster, assignment: Assignment, failed: set[Tile], dark: set[Tile]) -> Iterator[Violation]:
    tiles = {tile_of(cluster.fabric, name) for name in assignment.devices}
    if len(tiles) == len(assignment.devices) and None not in tiles and tiles.isdisjoint(failed | dark):
        return
    for name, count in Counter(assignment.devices).items():
        tile, where = tile_of(cluster.fabric, name), f"{assignment.job}: {name}"
        if tile is None:
            yield Violation("placement", where, f"{assignment.job}: the cluster has no accelerator '{name}'")
        if count > 1:
            yield Violation("placement", where, f"{where} hosts {count} ranks", count - 1.0)
        if tile in failed:
            yield Violation("placement", where, f"{where} has failed")
        elif tile in dark and assignment.configuration.num_devices > 1:
            yield Violation("placement", where, f"{assignment.job}: the port of {name} has failed")
