"""Slice resources of GKE (`accelerator.gke.io/v1beta1`): which 4 x 4 x 4 cubes are stitched together for each job.

A job of whole cubes is one Slice, over several racks one in each; a job inside a cube needs none. Extents are read from
the circuits between cubes, so that what is written is what the plan has on, and sorted as published topologies are.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device
from costmodel.spec import Spec
from planner.model import files
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan

API_VERSION = "accelerator.gke.io/v1beta1"
TYPES = {"tpu-v6e": "v6e", "tpu-v7": "tpu7x"}
"""type of a Slice by the device of the catalog"""
SIDE = 4
"""chips along each axis of a cube"""
MOST_LETTERS = 49
"""of a name: the controller adds a hash, and 63 may be the whole"""
Successors = dict[str, dict[str, str]]
"""the next cube along each axis, by cube"""


class SliceSpec(Spec):
    """`spec` of a Slice, by the pattern of its definition."""

    type: Literal["v6e", "tpu7x"]
    topology: str = Field(pattern=r"^\d+x\d+(x\d+)?$")
    partition_ids: tuple[str, ...] = Field(min_length=1, alias="partitionIds")


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
    kind = _type_of(instance.cluster.device)
    named = None if partitions is None else _partitions(partitions, fabric)
    found: dict[str, dict[str, Any]] = {}
    taken: dict[str, str] = {}
    for each in plan.assignments:
        cubes = sorted({device.rpartition(".")[0] for device in each.devices}, key=fabric.parse_server)
        is_whole = len(each.devices) == len(cubes) * fabric.devices_per_server
        for number, (extents, part) in enumerate(parts := _parts(each, cubes) if is_whole else []):
            name = _name(each.job) + (f"-{number}" if len(parts) > 1 else "")
            if name in found or len(name) > MOST_LETTERS:
                raise ValueError(f"job {each.job}: '{name}' is the name of two Slices, or too long; rename the job")
            ids = tuple(cube if named is None else named[cube] for cube in part)
            found[name] = _resource(name, kind, extents, ids)
        _take(taken, cubes, each.job, is_whole)
    return [*found.values()]


def _type_of(device: Device) -> str:
    kind = next((TYPES[name] for name in device.ancestry if name in TYPES), None)
    if kind is None:
        raise ValueError(f"{device.name} is no device of Slices; these are {' and '.join(TYPES)}")
    return kind


def _take(taken: dict[str, str], cubes: list[str], job: str, is_whole: bool) -> None:
    """Enter who has which cubes; ValueError where a whole cube is another's, too. Parts of one may be of several."""
    for cube in cubes:
        other = taken.get(cube)
        if other is not None and (is_whole or other):
            raise ValueError(f"cube {cube} is of job {job} and of {other or 'another'}: partitions would overlap")
        taken[cube] = job if is_whole else ""


def _parts(assignment: Assignment, cubes: list[str]) -> list[tuple[tuple[int, ...], list[str]]]:
    """Extents in chips, and cubes, of each box of a job's whole cubes."""
    following = _successors(assignment)
    parts: list[tuple[tuple[int, ...], list[str]]] = []
    left = dict.fromkeys(cubes)
    while left:
        first = next(iter(left))
        part, extents = [first], []
        for axis in "xyz":
            line = [*_line(following[axis], first, assignment.job)]
            extents.append(SIDE * len(line))
            part += [cube for start in part for cube in [*_line(following[axis], start, assignment.job)][1:]]
        if len({*part}) != len(part) or not {*part} <= {*left}:
            raise ValueError(f"job {assignment.job}: its circuits make no box of cubes; check the plan first")
        parts.append((tuple(sorted(extents)), part))
        left = {cube: None for cube in left if cube not in part}
    return parts


def _line(following: Mapping[str, str], first: str, job: str) -> Iterator[str]:
    """Cubes from one along an axis until it comes round."""
    cube, seen = first, set[str]()
    while cube not in seen:
        seen.add(cube)
        yield cube
        if cube not in following:
            raise ValueError(f"job {job}: cube {cube} lacks circuits; Slices are of 4 x 4 x 4 cubes with switches")
        cube = following[cube]


def _successors(assignment: Assignment) -> Successors:
    """The cube that the + face of each cube is joined to, along each axis; all its 16 chips to the same one."""
    found: Successors = {axis: {} for axis in "xyz"}
    faces: dict[tuple[str, str], int] = {}
    for circuit in (circuit for held in assignment.circuits for circuit in held.circuits):
        source, destination = (end.rpartition(".")[0] for end in (circuit.source, circuit.destination))
        axis = circuit.fibers[0].rpartition(".")[2][:1] if circuit.fibers else ""
        if axis not in found or found[axis].setdefault(source, destination) != destination:
            raise ValueError(f"job {assignment.job}: circuit {circuit.source} to {circuit.destination} joins no cubes")
        faces[axis, source] = faces.get((axis, source), 0) + 1
    if wrong := [cube for (_, cube), chips in faces.items() if chips != SIDE**2]:
        raise ValueError(f"cube {wrong[0]} is not of 4 x 4 x 4 chips; Slices are of such cubes")
    return found


def _name(job: str) -> str:
    """A name that Kubernetes takes."""
    name = re.sub(r"[^a-z0-9]+", "-", job.lower()).strip("-")
    return name if name[:1].isalpha() else f"job-{name}"


def _resource(name: str, kind: str, extents: tuple[int, ...], partitions: tuple[str, ...]) -> dict[str, Any]:
    """One object, its spec validated."""
    topology = "x".join(map(str, extents))
    try:
        spec = SliceSpec.model_validate({"type": kind, "topology": topology, "partitionIds": partitions})
    except ValidationError as error:
        raise ValueError(f"Slice {name}: {error.errors()[0]['msg']}") from None
    return {
        "apiVersion": API_VERSION,
        "kind": "Slice",
        "metadata": {"name": name},
        "spec": spec.model_dump(mode="json", by_alias=True),
    }


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
