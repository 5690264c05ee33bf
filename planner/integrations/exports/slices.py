"""Slice resources of GKE (`accelerator.gke.io/v1beta1`): which 4 x 4 x 4 cubes are stitched together for each job.

A job of whole cubes is one Slice, over several racks one in each; a job inside a cube needs none. Extents are read from
the circuits between cubes, so that what is written is what the plan has on, and sorted as published topologies are.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from costmodel.fabrics import FabricBase
from planner.integrations.slices.boxes import Joint, boxes, cube_of, joint
from planner.integrations.slices.resource import MOST_LETTERS, resource, spec_body, type_of
from planner.model import files
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan


def slices_text(instance: Instance, plan: Plan, partitions: Path | None = None) -> str:
    """YAML of `slices_of`, for `kubectl apply`; ValueError too where there is none."""
    found = slices_of(instance, plan, partitions)
    if not found:
        raise ValueError("no job has whole cubes; there is nothing to stitch")
    return yaml.safe_dump_all(found, sort_keys=False)


def slices_of(instance: Instance, plan: Plan, partitions: Path | None = None) -> list[dict[str, Any]]:
    """All Slices of a plan; cubes by their names, or by those of a file.

    ValueError where this is no plan of 4 x 4 x 4 cubes of such chips, or a cube would be in two.
    """
    fabric = instance.cluster.fabric
    kind = type_of(instance.cluster.device)
    named = None if partitions is None else _partitions(partitions, fabric)
    found: dict[str, dict[str, Any]] = {}
    taken: dict[str, str] = {}
    for each in plan.assignments:
        cubes = sorted({cube_of(device) for device in each.devices}, key=fabric.parse_server)
        is_whole = len(each.devices) == len(cubes) * fabric.devices_per_server
        for number, (extents, part) in enumerate(parts := boxes(each.job, _joints(each), cubes) if is_whole else []):
            name = _name(each.job) + (f"-{number}" if len(parts) > 1 else "")
            if name in found or len(name) > MOST_LETTERS:
                raise ValueError(f"job {each.job}: '{name}' is the name of two Slices, or too long; rename the job")
            ids = tuple(cube if named is None else named[cube] for cube in part)
            found[name] = resource(name, spec_body(name, kind, extents, ids))
        _take(taken, cubes, each.job, is_whole)
    return [*found.values()]


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


def _name(job: str) -> str:
    """A name that Kubernetes takes."""
    name = re.sub(r"[^a-z0-9]+", "-", job.lower()).strip("-")
    return name if name[:1].isalpha() else f"job-{name}"


def _partitions(path: Path, fabric: FabricBase) -> Mapping[str, str]:
    """Partition of each cube, from the key `partitions` of a file as `planner import --join-nodes` writes it."""
    data = files.parse_text(files.read_text(path), str(path)).get("partitions")
    given = data if isinstance(data, dict) else {}
    lacking = [name for name in fabric.server_names if not isinstance(given.get(name), str) or not given[name]]
    if lacking:
        raise InputError(str(path), "partitions", f"{lacking[0]} has none; name the partition of each cube")
    ids = [given[name] for name in fabric.server_names]
    if len({*ids}) < len(ids):
        raise InputError(str(path), "partitions", "two cubes have one partition; give each its own")
    return given
