"""Shared by the tests of `plugin`."""

from itertools import product
from math import prod
from typing import Any

from costmodel.fabrics import SlicedFabric
from planner.model.instance import Instance

Places = list[frozenset[tuple[int, int]]]


def parts_in(instance: Instance, box: tuple[int, ...]) -> Places:
    """Every set of working devices on which one part may lie, from the rules."""
    cluster, fabric = instance.cluster, instance.cluster.fabric
    assert isinstance(fabric, SlicedFabric)
    if fabric.kind == "sipac":
        return [frozenset(p) for p in subcubes(instance, len(box)) if works(instance, p)]
    sides = fabric.sides
    failed = set(cluster.health.failed_switches)
    if any(extent > side for extent, side in zip(box, sides, strict=True)):
        count = prod(box) // prod(sides)
        whole = [frozenset(p) for p in boxes(instance, sides, failed) if works(instance, p)]
        return [frozenset().union(*some) for some in product(whole, repeat=count) if len(set(some)) == count]
    return [frozenset(p) for p in boxes(instance, box, failed) if works(instance, p)]


def parts_by_light(instance: Instance, box: tuple[int, ...], widths: tuple[int, ...]) -> Places:
    """Those of a plain torus whose links along each axis can have so many wavelengths: more than a fiber carries only
    where both ends lie on one board. No widths: each link is that of a plain torus."""
    fabric = instance.cluster.fabric
    assert fabric.kind == "torus"
    if not widths:
        return parts_in(instance, box)
    assert fabric.boards is not None
    (_, b, c), on = fabric.sides, fabric.boards.sides
    found = []
    for place in parts_in(instance, box):
        chips = {(slot // (b * c), slot // c % b, slot % c) for _, slot in place}
        boards = [len({chip[axis] // on[axis] for chip in chips}) for axis in range(3)]
        if all(boards[axis] == 1 or widths[axis] <= fabric.boards.off_board for axis in range(3)):
            found.append(place)
    return found


def works(instance: Instance, places: set[tuple[int, int]]) -> bool:
    return not places & (instance.cluster.failed_devices | instance.cluster.dark_devices)


def boxes(instance: Instance, box: tuple[int, ...], failed: set[str]) -> list[set[tuple[int, int]]]:
    fabric = instance.cluster.fabric
    assert fabric.kind == "torus"
    sides, found = fabric.sides, []
    for server, origin in product(range(fabric.num_servers), product(*map(range, sides))):
        at = [[(o + i) % s for i in range(e)] for o, e, s in zip(origin, box, sides, strict=True)]
        if any(e == s and o for o, e, s in zip(origin, box, sides, strict=True)):
            continue
        if fabric.switches and any(o + e > s for o, e, s in zip(origin, box, sides, strict=True)):
            continue
        chips = {*product(*at)}
        needed = {
            f"{'xyz'[axis]}{rest[0] * (sides[1] if axis == 2 else sides[2]) + rest[1]}"
            for axis in range(3)
            if fabric.switches and box[axis] == sides[axis]
            for chip in chips
            for rest in [[c for i, c in enumerate(chip) if i != axis]]
        }
        if not needed & failed:
            found.append({(server, (x * sides[1] + y) * sides[2] + z) for x, y, z in chips})
    return found


def subcubes(instance: Instance, num_free: int) -> list[set[tuple[int, int]]]:
    fabric = instance.cluster.fabric
    assert fabric.kind == "sipac"
    slots = range(fabric.devices_per_server)
    digits = {s: tuple(s // fabric.radix**d % fabric.radix for d in range(fabric.digits)) for s in slots}
    found: list[set[tuple[int, int]]] = []
    for free in product((False, True), repeat=fabric.digits):
        if sum(free) == num_free:
            groups: dict[object, set[tuple[int, int]]] = {}
            for server, slot in product(range(fabric.num_servers), slots):
                rest = tuple(v for v, f in zip(digits[slot], free, strict=True) if not f)
                groups.setdefault((server, rest), set()).add((server, slot))
            found += groups.values()
    return found


def widths_of(configuration: Any) -> tuple[int, ...]:
    """Wavelengths of a link along each axis; () on a plain torus."""
    each = [getattr(configuration, f"{d}_collective") for d in ("tensor", "pipeline", "data", "context", "expert")]
    lit = [collective for collective in each if collective.wavelengths]
    return tuple(max(collective.wavelengths[axis] for collective in lit) for axis in range(3) if lit)


def box_of(instance: Instance, configuration: Any) -> tuple[int, ...]:
    radices = [getattr(configuration, f"{d}_collective").radices for d in ("tensor", "pipeline", "data")]
    if instance.cluster.fabric.kind == "sipac":
        return tuple(r for each in radices for r in each)
    return tuple(prod((each or (1, 1, 1))[axis] for each in radices) for axis in range(3))
