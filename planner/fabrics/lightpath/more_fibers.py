"""Instances with more fibers between servers."""

from collections.abc import Mapping

from costmodel.fabrics import FiberBundle, Lightpath
from planner.model.edit import edited, with_cluster, with_fabric
from planner.model.instance import Instance

Pair = tuple[int, int]
"""ordered pair of servers"""


def with_fibers(instance: Instance, more: Mapping[Pair, int]) -> Instance:
    """More fibers between some ordered pairs of servers; those that exist keep their numbers."""
    fabric = _fabric(instance)
    servers = range(fabric.num_servers)
    counts = {(a, b): fabric.num_fibers(a, b) + more.get((a, b), 0) for a in servers for b in servers}
    bundles = tuple(_bundle(fabric, pair, count) for pair, count in counts.items() if count)
    return with_fabric(instance, fibers=bundles)


def with_fibers_everywhere(instance: Instance, more: int) -> Instance:
    """More fibers between every two servers of a rack, in each direction."""
    fabric = _fabric(instance)
    if isinstance(fabric.fibers, int):
        return with_fabric(instance, fibers=fabric.fibers + more)
    return with_fibers(instance, dict.fromkeys(server_pairs(fabric), more))


def with_joined_server(instance: Instance) -> Instance:
    """One more server in each rack, joined to each other one by as many fibers as two servers of a rack have.

    Where pairs differ, that is the least number among the pairs that have fibers.
    """
    fabric = _fabric(instance)
    larger = edited(fabric, servers=fabric.servers + 1)
    if not isinstance(fabric.fibers, int):
        count = fibers_of_new_server(fabric)
        new = {larger.servers * rack + fabric.servers for rack in range(larger.racks)}
        joined = [pair for pair in server_pairs(larger) if count and new & set(pair)]
        bundles = tuple(_bundle(larger, pair, count) for pair in joined)
        larger = edited(larger, fibers=(*fabric.fibers, *bundles))
    return with_cluster(instance, fabric=larger)


def fibers_of_new_server(fabric: Lightpath) -> int:
    """Fibers that join a further server to each other one, in each direction."""
    counts = (fabric.num_fibers(*pair) for pair in server_pairs(fabric))
    return min((count for count in counts if count), default=0)


def server_pairs(fabric: Lightpath) -> list[Pair]:
    """Ordered pairs of different servers of one rack."""
    servers = range(fabric.num_servers)
    return [(a, b) for a in servers for b in servers if a != b and fabric.rack_of(a) == fabric.rack_of(b)]


def _bundle(fabric: Lightpath, pair: Pair, count: int) -> FiberBundle:
    source, destination = map(fabric.server_name, pair)
    return FiberBundle.model_validate({"from": source, "to": destination, "count": count})


def _fabric(instance: Instance) -> Lightpath:
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Lightpath)
    return fabric
