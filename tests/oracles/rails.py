"""Best value on tiny rails of optical switches, by enumeration from RULES.md alone.

Jobs with circuits are placed as servers times rails, others block by block; nothing is shared with the planner but the
file types and the list of configurations.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from math import sqrt
from typing import NamedTuple

import numpy as np

from costmodel.fabrics import OcsRail
from costmodel.parallelism.configuration import Configuration
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from planner.model.instance import Instance
from planner.model.job import Job
from tests.oracles.by_rack import Asked, is_asked, racks_given, sizes_asked

Devices = frozenset[tuple[int, int]]


class Way(NamedTuple):
    """Configurations that may lie in the same places: ranks, block, ports of each rank; and the best value of them."""

    value: float
    num_ranks: int
    block: int
    ports: int
    per_server: int | None = None
    """devices that each server gives, where the job asks for that"""
    servers_by_rack: Asked = None
    """the same of the racks"""


def best_value(instance: Instance) -> float | None:
    """Greatest total value; None where the required jobs cannot all run."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, OcsRail)
    ways = [tuple(_ways(instance, job)) for job in instance.jobs]
    required = [job.required for job in instance.jobs]
    most = [max((way.value for way in each), default=0.0) for each in ways]
    best: list[float] = []

    def search(j: int, taken: Devices, value: float) -> None:
        if best and value + sum(most[j:]) <= best[0] + 1e-12:
            return
        if j == len(ways):
            best[:] = [value]
            return
        for way in ways[j]:
            for devices in _places(instance, way):
                if not devices & taken:
                    search(j + 1, taken | devices, value + way.value)
        if not required[j]:
            search(j + 1, taken, value)

    search(0, frozenset(), 0.0)
    return best[0] if best else None


def _ways(instance: Instance, job: Job) -> Iterator[Way]:
    cluster = instance.cluster
    sizes = sizes_asked(job, cluster.fabric)
    each = job.constraints.per_server
    rows = enumerate_candidates(job.workload, sizes, cluster.device, cluster.fabric, per_server=each)
    if not len(rows):
        return
    speed = score(rows, cluster.device, cluster.fabric).speed
    values: dict[tuple[int, int, int], float] = {}
    for row in range(len(rows)):
        configuration = rows.configuration(row)
        key = configuration.num_devices, configuration.block, ports_needed(configuration)
        share = float(speed[row] / np.max(speed))
        values[key] = max(values.get(key, 0.0), job.weight * sqrt(share))
    for key, value in sorted(values.items(), key=lambda item: -item[1]):
        yield Way(value, *key, each, job.constraints.servers_by_rack)


def ports_needed(configuration: Configuration) -> int:
    """Of all dimensions together, or of the turn that has most."""
    turns = configuration.turns or ("layers+pipeline+data",)
    each = {"tensor": "layers", "context": "layers", "expert": "layers", "pipeline": "pipeline", "data": "data"}
    return max(_ports_along(configuration, [d for d, kind in each.items() if kind in turn]) for turn in turns)


def _ports_along(configuration: Configuration, dimensions: list[str]) -> int:
    total = 0
    for dimension in dimensions:
        collective = getattr(configuration, f"{dimension}_collective")
        if not collective.wavelengths:
            continue
        if collective.kind == "line":
            total += collective.wavelengths[0] * min(2, configuration.pipeline - 1)
        elif collective.kind == "ring":
            total += collective.wavelengths[0]
        elif collective.kind.startswith("circulant"):
            total += len(collective.radices) * collective.wavelengths[0]
        else:
            total += sum((r - 1) * w for r, w in zip(collective.radices, collective.wavelengths, strict=True))
    return total


def _places(instance: Instance, way: Way) -> tuple[Devices, ...]:
    health, fabric = instance.cluster.health, instance.cluster.fabric
    assert isinstance(fabric, OcsRail)
    parse = fabric.parse_device
    failed = frozenset(map(parse, health.failed_tiles))
    dark = frozenset(map(parse, health.failed_ports)) if way.num_ranks > 1 else frozenset()
    dead = tuple(int(re.split("[q#]", name)[1]) for name in health.failed_switches)
    working = tuple(fabric.switches - dead.count(rail) for rail in range(fabric.gpus_per_server))
    found = _enumerated(way._replace(value=0.0, servers_by_rack=None), fabric.num_servers, working, failed | dark)
    asked = way.servers_by_rack
    return tuple(each for each in found if asked is None or is_asked(asked, racks_given((s for s, _ in each), fabric)))


@lru_cache(maxsize=1024)
def _enumerated(way: Way, servers: int, working: tuple[int, ...], lost: Devices) -> tuple[Devices, ...]:
    slots, blocks = range(len(working)), way.num_ranks // way.block
    if way.ports:
        rails = [q for q in slots if working[q] >= way.ports]
        found = (
            frozenset((s, q) for s in chosen for q in taken)
            for chosen in combinations(range(servers), blocks)
            for taken in combinations(rails, way.block)
        )
        return tuple({devices for devices in found if not devices & lost and _is_even(devices, way)})
    inside = [frozenset((s, q) for q in taken) for s in range(servers) for taken in combinations(slots, way.block)]
    sound = [devices for devices in inside if not devices & lost]
    unions = {frozenset[tuple[int, int]]()}
    for _ in range(blocks):
        unions = {union | one for union in unions for one in sound if not union & one}
    return tuple(union for union in unions if _is_even(union, way))


def _is_even(devices: Devices, way: Way) -> bool:
    given = [sum(s == server for s, _ in devices) for server, _ in devices]
    return way.per_server is None or all(count == way.per_server for count in given)
