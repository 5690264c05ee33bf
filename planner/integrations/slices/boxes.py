"""Boxes of whole cubes, read from the circuits between the faces of cubes."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

SIDE = 4
"""chips along each axis of a cube"""
Successors = dict[str, dict[str, str]]
"""the next cube along each axis, by cube"""


class Joint(NamedTuple):
    """One circuit between two chips on faces of cubes."""

    source: str
    destination: str
    axis: str
    """x, y or z; else no circuit of cubes"""


class CubeBox(NamedTuple):
    """Cubes that are joined along all three axes."""

    extents: tuple[int, ...]
    """chips along each side, sorted as published topologies are"""
    cubes: tuple[str, ...]


def joint(source: str, destination: str, fibers: Iterable[str]) -> Joint:
    """A circuit by the names that a plan gives it: its first fiber tells the axis."""
    return Joint(source, destination, next(iter(fibers), "").rpartition(".")[2][:1])


def joints_of(circuits: Iterable[Mapping[str, Any]]) -> list[Joint]:
    """All circuits of a job, as drivers read them."""
    held = (circuit for each in circuits for circuit in each["circuits"])
    return [joint(circuit["from"], circuit["to"], circuit["fibers"]) for circuit in held]


def cube_of(device: str) -> str:
    """Cube of a chip, by name."""
    return device.rpartition(".")[0]


def has_whole_cubes(joints: Iterable[Joint]) -> bool:
    """True if circuits fill a face or join cubes: those of a job inside a cube do neither."""
    known = list(joints)
    is_joined = any(cube_of(each.source) != cube_of(each.destination) for each in known)
    return is_joined or SIDE**2 in _faces(known).values()


def boxes(job: str, joints: Iterable[Joint], cubes: Iterable[str]) -> list[CubeBox]:
    """The boxes of a job's whole cubes, which `cubes` lists in order; ValueError where circuits make none."""
    following = _successors(job, list(joints))
    found: list[CubeBox] = []
    left = dict.fromkeys(cubes)
    while left:
        first = next(iter(left))
        part, extents = [first], []
        for axis in "xyz":
            line = [*_line(following[axis], first, job)]
            extents.append(SIDE * len(line))
            part += [cube for start in part for cube in [*_line(following[axis], start, job)][1:]]
        if len({*part}) != len(part) or not {*part} <= {*left}:
            raise ValueError(f"job {job}: its circuits make no box of cubes; check the plan first")
        found.append(CubeBox(tuple(sorted(extents)), tuple(part)))
        left = {cube: None for cube in left if cube not in part}
    return found


def _line(following: Mapping[str, str], first: str, job: str) -> Iterator[str]:
    """Cubes from one along an axis until it comes round."""
    cube, seen = first, set[str]()
    while cube not in seen:
        seen.add(cube)
        yield cube
        if cube not in following:
            raise ValueError(f"job {job}: cube {cube} lacks circuits; Slices are of 4 x 4 x 4 cubes with switches")
        cube = following[cube]


def _successors(job: str, joints: list[Joint]) -> Successors:
    """The cube that the + face of each cube is joined to, along each axis; all its 16 chips to the same one."""
    found: Successors = {axis: {} for axis in "xyz"}
    for each in joints:
        source, destination = cube_of(each.source), cube_of(each.destination)
        if each.axis not in found or found[each.axis].setdefault(source, destination) != destination:
            raise ValueError(f"job {job}: circuit {each.source} to {each.destination} joins no cubes")
    if wrong := [cube for (_, cube), chips in _faces(joints).items() if chips != SIDE**2]:
        raise ValueError(f"cube {wrong[0]} is not of 4 x 4 x 4 chips; Slices are of such cubes")
    return found


def _faces(joints: Iterable[Joint]) -> dict[tuple[str, str], int]:
    """Circuits that leave each face, by axis and cube."""
    found: dict[tuple[str, str], int] = {}
    for each in joints:
        face = each.axis, cube_of(each.source)
        found[face] = found.get(face, 0) + 1
    return found
