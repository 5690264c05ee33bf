"""Slice resources of GKE (`accelerator.gke.io/v1beta1`): which 4 x 4 x 4 cubes are stitched together for each job.

A job of whole cubes is one Slice, over several racks one in each; a job inside a cube is the partition that its hosts
are by the labels of their nodes, where these are given. Extents are read from the circuits between cubes, so that what
is written is what the plan has on, and sorted as published topologies are. Names are those that the driver of Slices
gives.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from costmodel.fabrics import FabricBase
from planner.fabrics import plugin_of
from planner.integrations.slices.boxes import Joint, boxes, cube_of, joint
from planner.integrations.slices.hosts import Hosts
from planner.integrations.slices.objects import names_of
from planner.integrations.slices.partitions import partition_of
from planner.integrations.slices.resource import resource, spec_body, type_of
from planner.model import files
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan

Box = tuple[list[str], list[str]]
"""extents of a Slice, and its partitions"""


def slices_text(instance: Instance, plan: Plan, partitions: Path | None = None, hosts: Hosts | None = None) -> str:
    """YAML of `slices_of`, for `kubectl apply`; ValueError too where there is none."""
    named = None if partitions is None else _partitions(partitions, instance.cluster.fabric)
    found = slices_of(instance, plan, named, hosts)
    if not found:
        inside = ", and the nodes of jobs inside cubes are not given" if hosts is None else ""
        raise ValueError(f"no job has whole cubes{inside}; there is nothing to stitch")
    return yaml.safe_dump_all(found, sort_keys=False)


def slices_of(
    instance: Instance, plan: Plan, named: Mapping[str, str] | None = None, hosts: Hosts | None = None
) -> list[dict[str, Any]]:
    """All Slices of a plan; `named`: the partition of each cube, None: as the plan names it. Those inside cubes only
    with `hosts`.

    ValueError where this is no plan of 4 x 4 x 4 cubes of such chips, a cube would be in two or has no partition, or
    the hosts of a job are no partition by their labels.
    """
    fabric = instance.cluster.fabric
    kind = type_of(instance.cluster.device)
    if named is not None and (problem := _unnamed(named, fabric)):
        raise ValueError(f"partitions: {problem}")
    found: list[dict[str, Any]] = []
    taken: dict[str, str] = {}
    for each in plan.assignments:
        cubes = sorted({cube_of(device) for device in each.devices}, key=fabric.parse_server)
        is_whole = len(each.devices) == len(cubes) * fabric.devices_per_server
        if is_whole:
            parts = _stitched(each, cubes, named or dict(zip(cubes, cubes, strict=True)))
        else:
            by_rank = dict.fromkeys(map(cube_of, each.devices))
            parts = [] if hosts is None else [_inside(fabric, each, cube, hosts) for cube in by_rank]
        for name, (extents, ids) in zip(names_of(each.job, len(parts)), parts, strict=True):
            found.append(resource(name, spec_body(name, kind, extents, ids)))
        _take(taken, cubes, each.job, is_whole)
    return found


def _stitched(assignment: Assignment, cubes: list[str], named: Mapping[str, str]) -> list[Box]:
    """Boxes of whole cubes of a job, by the names of their partitions."""
    found = boxes(assignment.job, _joints(assignment), cubes)
    return [([*map(str, box.extents)], [named[cube] for cube in box.cubes]) for box in found]


def _inside(fabric: FabricBase, assignment: Assignment, cube: str, hosts: Hosts) -> Box:
    """Extents and id of the partition that a job has of a cube."""
    places = [fabric.parse_device(name) for name in assignment.devices if cube_of(name) == cube]
    shape = plugin_of(fabric).partition(fabric, [slot for _, slot in places])
    if shape is None:
        raise ValueError(f"job {assignment.job}: what it has of {cube} is none of the partitions of the cluster")
    nodes = {hosts.site.on_node(*place)[0] for place in places}
    return shape.split("x"), [partition_of(assignment.job, shape, nodes, hosts.named)]


def _take(taken: dict[str, str], cubes: list[str], job: str, is_whole: bool) -> None:
    """Enter who has which cubes; ValueError where a whole cube is another's, too. Parts of one may be of several."""
    for cube in cubes:
        other = taken.get(cube)
        if other is not None and (is_whole or other):
            raise ValueError(f"cube {cube} is of job {job} and of {other or 'another'}: partitions would overlap")
        taken[cube] = job if is_whole else ""


def _joints(assignment: Assignment) -> list[Joint]:
    held = (circuit for each in assignment.circuits for circuit in each.circuits)
    return [joint(circuit.source, circuit.destination, circuit.fibers) for circuit in held]


def _partitions(path: Path, fabric: FabricBase) -> Mapping[str, str]:
    """Partition of each cube, from the key `partitions` of a file as `planner import --join-nodes` writes it."""
    data = files.parse_text(files.read_text(path), str(path)).get("partitions")
    given = data if isinstance(data, dict) else {}
    if problem := _unnamed(given, fabric):
        raise InputError(str(path), "partitions", problem)
    return given


def _unnamed(given: Mapping[str, object], fabric: FabricBase) -> str:
    """What is wrong with the partitions of cubes; nothing where each has its own."""
    lacking = [name for name in fabric.server_names if not isinstance(given.get(name), str) or not given[name]]
    if lacking:
        return f"{lacking[0]} has none; name the partition of each cube"
    ids = [given[name] for name in fabric.server_names]
    return "two cubes have one partition; give each its own" if len({*ids}) < len(ids) else ""
