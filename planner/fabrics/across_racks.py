"""Jobs over several racks: each rack's part is placed as a job of its own, and the upper layer joins the parts."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from costmodel.fabrics import FabricBase
from planner.fabrics.aligned_parts import Key, aligned
from planner.fabrics.demand import Demand, Served
from planner.fabrics.demands import RowDemands
from planner.fabrics.problem import JobOptions
from planner.fabrics.rack_claims import rack_name
from planner.fabrics.search import Blocks
from planner.model.job import Job
from planner.model.plan import Assignment, Circuit, HeldCircuits, RackCircuit


class RackPart(NamedTuple):
    """What a job has in one rack."""

    options: JobOptions
    """with the part as its only row"""
    blocks: Blocks
    first: int
    """of its ranks"""


def in_racks(options: JobOptions, row: int, blocks: Sequence[tuple[int, int]]) -> list[RackPart]:
    """The parts of a candidate with so many blocks on each server, by rack; none where they are not equal, or as many
    as it asks for."""
    demand = options.shapes[row]
    found, part = by_rack(demand, options.fabric, blocks), demand.in_rack.num_ranks
    shapes = RowDemands.alone(demand.in_rack)
    alone = replace(options.take(np.array([row])), shapes=shapes, current=None, can_stay=False)
    return [
        RackPart(alone.of(_renamed(options.job, rack)), own, place * part)
        for place, (rack, own) in enumerate(found.items())
    ]


def by_rack(demand: Demand, fabric: FabricBase, blocks: Iterable[tuple[int, int]]) -> dict[int, Blocks]:
    """So many blocks on each server by rack, ascending; none where they are not equal, or as many as are asked for."""
    found: dict[int, Blocks] = {}
    for server, count in sorted(blocks):
        found.setdefault(fabric.rack_of(server), []).append((server, count))
    each = {sum(count for _, count in own) for own in found.values()}
    return found if len(found) == demand.racks and each == {demand.in_rack.num_parts} else {}


def _renamed(job: Job, rack: int) -> Job:
    return job.model_copy(update={"name": f"{job.name} in {rack_name(rack)}"})


def joined(options: JobOptions, row: int, parts: Sequence[Assignment], circuits: Sequence[RackCircuit]) -> Assignment:
    """A candidate whose parts lie as said, in the order of its ranks."""
    devices = [name for part in parts for name in part.devices]
    held = [
        HeldCircuits(dimension=dimension, phase=phase, circuits=sum(same, ()))
        for (dimension, phase), same in aligned([_by_key(part) for part in parts])
    ]
    memory = [circuit for part in parts for circuit in part.memory]
    return options.assignment(row, devices, held, memory, circuits)


def _by_key(part: Assignment) -> list[tuple[Key[Served], tuple[Circuit, ...]]]:
    return [((held.dimension, held.phase), held.circuits) for held in part.circuits]
