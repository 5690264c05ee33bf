"""Pools of memory modules that the tiles of a server share: no more modules are held than a pool has."""

from collections import Counter
from collections.abc import Iterator

from costmodel.fabrics import Lightpath
from planner.checks.names import admitted, tile_of
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.violation import Violation


def check_memory_pool(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Each module is lent to one rank; nothing where each tile has modules of its own."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Lightpath)
    if fabric.memory is None or not fabric.memory.shared:
        return
    held = Counter[int]()
    for _, assignment in admitted(instance, plan):
        for tile in (tile_of(fabric, name) for name in assignment.devices):
            if tile is not None:
                held[tile[0]] += assignment.configuration.memory_units or 0
    for server, number in sorted(held.items()):
        if number > fabric.memory.units:
            name = fabric.server_name(server)
            message = f"{name}: {number} modules of its pool are held, there are {fabric.memory.units}"
            yield Violation("memory_pool", name, message, float(number - fabric.memory.units))
