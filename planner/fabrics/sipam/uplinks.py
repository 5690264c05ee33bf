"""Uplinks that a job in several servers of a rack holds beyond those its circuits are on."""

from itertools import product

from costmodel.parallelism.mappings import DIMENSIONS
from planner.fabrics.demand import Demand
from planner.fabrics.placement import Owned
from planner.fabrics.sipam.demand import PoolDemand, is_inside
from planner.fabrics.sipam.fast_pool import PoolPart
from planner.fabrics.sipam.free_state import PoolFreeState
from planner.model.masks import bits
from planner.model.plan import Assignment


def reserve_uplinks(free: PoolFreeState, shape: Demand, assignment: Assignment) -> None:
    """Take them, as far as there are any, after the assignment itself was taken."""
    pool, masks = free.pool, dict[PoolPart, int]()
    fabric, racks = pool.fabric, dict[int, set[int]]()
    for server in {fabric.parse_device(name)[0] for name in assignment.devices}:
        racks.setdefault(fabric.rack_of(server), set()).add(server)
    stays: dict[str, bool] = dict(zip(DIMENSIONS, is_inside(shape), strict=False))
    circuits = [c for held in assignment.circuits if not stays[held.dimension] for c in held.circuits]
    used = {fabric.parse_uplink(name) for circuit in circuits for name in circuit.fibers}
    for servers in (servers for servers in racks.values() if len(servers) > 1):
        rails = {r for c in circuits if fabric.parse_device(c.source)[0] in servers for r in c.wavelengths}
        for server, rail in product(servers, rails):
            in_use = sum(uplink[:2] == (server, rail) for uplink in used)
            more = pool.racks[server].uplinks[rail][: max(PoolDemand.of(shape).uplinks - in_use, 0)]
            masks[server] = masks.get(server, 0) | bits(more) << free.parts.bits.field("uplink", rail=rail).first
    free.hold((), Owned(tuple(masks.items())))
