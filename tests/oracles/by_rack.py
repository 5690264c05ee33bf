"""Servers of each rack that a job asks for, by trying all numbers."""

from collections.abc import Iterable
from itertools import permutations, product
from typing import Any

from costmodel.fabrics import FabricBase
from planner.model.job import Job

Asked = Any
"""as the constraint of a job: a tuple of numbers, or bounds"""


def is_asked(asked: Asked, counts: Iterable[int]) -> bool:
    """Whether a job may have so many servers of each rack that it uses."""
    found = tuple(counts)
    if isinstance(asked, tuple):
        return found in {*permutations(asked)}
    return all(number in range(asked.min, asked.max + 1) for number in found)


def sizes_asked(job: Job, fabric: FabricBase) -> list[int]:
    """Sizes of a job that some racks of a fabric that links them could give."""
    asked, each = job.constraints.servers_by_rack, job.constraints.per_server
    sizes = [size for size in job.sizes if size <= fabric.most_devices_of_a_job]
    if asked is None or each is None:
        return sizes
    ways = product(range(fabric.servers + 1), repeat=fabric.racks)
    used = ([number for number in way if number] for way in ways)
    some = {sum(way) * each for way in used if is_asked(asked, way)}
    return [size for size in sizes if size in some]


def racks_given(servers: Iterable[int], fabric: FabricBase) -> list[int]:
    """Servers of each rack that these lie in."""
    racks = [server // fabric.servers for server in {*servers}]
    return [racks.count(rack) for rack in {*racks}]
