"""Jobs over several racks: each rack's part is placed as a job of its own, and the upper layer joins the parts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from planner.fabrics.demands import RowDemands
from planner.fabrics.problem import JobOptions
from planner.fabrics.rack_claims import rack_name
from planner.fabrics.search import Blocks
from planner.model.job import Job
from planner.model.plan import Assignment, HeldCircuits, RackCircuit


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
    demand, fabric = options.shapes[row], options.fabric
    by_rack: dict[int, Blocks] = {}
    for server, count in sorted(blocks):
        by_rack.setdefault(fabric.rack_of(server), []).append((server, count))
    each = {sum(count for _, count in own) for own in by_rack.values()}
    if len(by_rack) != demand.racks or each != {demand.in_rack.num_parts}:
        return []
    shapes, part = RowDemands.alone(demand.in_rack), demand.in_rack.num_ranks
    alone = replace(options.take(np.array([row])), shapes=shapes, current=None, can_stay=False)
    return [
        RackPart(replace(alone, job=_renamed(options.job, rack)), by_rack[rack], place * part)
        for place, rack in enumerate(sorted(by_rack))
    ]


def _renamed(job: Job, rack: int) -> Job:
    return job.model_copy(update={"name": f"{job.name} in {rack_name(rack)}"})


def joined(options: JobOptions, row: int, parts: Sequence[Assignment], circuits: Sequence[RackCircuit]) -> Assignment:
    """A candidate whose parts lie as said, in the order of its ranks."""
    devices = [name for part in parts for name in part.devices]
    held = [
        HeldCircuits(dimension=same[0].dimension, phase=same[0].phase, circuits=sum((h.circuits for h in same), ()))
        for same in zip(*(part.circuits for part in parts), strict=True)
    ]
    memory = [circuit for part in parts for circuit in part.memory]
    return options.assignment(row, devices, held, memory, circuits)
