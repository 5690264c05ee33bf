"""Devices that a running job takes beside those that it has: its ranks stay where they are, new ranks come after them.

The state is one in which the job's own devices are free. Which servers give the new parts follows from counts: a server
gives what its free devices hold, a rack what the job asks of racks.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, permutations

from costmodel.fabrics import FabricBase
from planner.fabrics.added_servers import added_by_rack
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.search import Blocks

MOST_SPREADS = 1_000
"""of the new parts of one job over servers that are looked at"""
MOST_ORDERS = 24
"""orders of the servers of one spread"""
FEW_SERVERS = 16
"""of which all spreads may be looked at"""


@dataclass(frozen=True)
class BegunParts:
    """Devices of the ranks that stay, by parts of the job that is to be."""

    devices: tuple[Device, ...]
    servers: tuple[int, ...]
    """of each part that is begun"""
    missing: int
    """devices that the last of these parts lacks"""

    @classmethod
    def of(cls, demand: Demand, devices: Sequence[Device]) -> "BegunParts | None":
        """None where some part would lie in several servers, or one server have two parts that are to lie apart."""
        size = demand.part
        parts = [devices[first : first + size] for first in range(0, len(devices), size)]
        servers = [{server for server, _ in part} for part in parts]
        if any(len(each) > 1 for each in servers):
            return None
        found = tuple(server for each in servers for server in each)
        if demand.is_even and len(set(found)) < len(found):
            return None
        return cls(tuple(devices), found, size - len(parts[-1]))


def grown(
    fabric: FabricBase, demand: Demand, held: BegunParts, near: Sequence[int], free: Mapping[int, Sequence[int]]
) -> Iterator[list[Device]]:
    """Devices by rank on servers that packets or light join, `near`; new ranks take the slots that are `free`, by
    server. The first way fills the servers that the job has, then as few others as possible."""
    last = held.servers[-1]
    mine = free.get(last, ())
    if not set(held.servers) <= set(near) or len(mine) < held.missing:
        return
    filled = [(last, slot) for slot in mine[: held.missing]]
    left = {**free, last: mine[held.missing :]}
    for spread in islice(_spreads(fabric, demand, held, left), MOST_SPREADS):
        for order in islice(permutations(spread), MOST_ORDERS):
            added = _in_order(order, left, demand.part)
            yield [*held.devices, *filled, *added]


def _in_order(order: Sequence[tuple[int, int]], free: Mapping[int, Sequence[int]], part: int) -> Iterator[Device]:
    return ((server, slot) for server, count in order for slot in free[server][: count * part])


def _spreads(
    fabric: FabricBase, demand: Demand, held: BegunParts, free: Mapping[int, Sequence[int]]
) -> Iterator[Blocks]:
    """New parts by server."""
    missing, begun = demand.num_parts - len(held.servers), Counter(held.servers)
    if missing < 0:
        return
    room = {s: len(slots) // demand.part for s, slots in free.items()}
    if demand.is_even:
        room = {s: min(1, parts) for s, parts in room.items() if s not in begun}
    room = {s: parts for s, parts in room.items() if parts}
    if demand.servers_by_rack is not None:
        yield from added_by_rack(demand.servers_by_rack, missing, begun, _tightest_first(room, free), fabric.rack_of)
        return
    yield from _shared_out(sorted(room, key=lambda s: _waste(room[s], missing, s in begun)), room, missing)


def _waste(room: int, missing: int, is_begun: bool) -> tuple[bool, bool, int]:
    """A key: servers that the job has come first, then the tightest that hold all that is missing, then the largest."""
    return not is_begun, room < missing, room if room >= missing else -room


def _tightest_first(room: Mapping[int, int], free: Mapping[int, Sequence[int]]) -> list[int]:
    return sorted(room, key=lambda s: (len(free[s]), s))


def _shared_out(order: Sequence[int], room: Mapping[int, int], missing: int) -> Iterator[Blocks]:
    """Ways to take so many parts of servers, as many as possible of the first ones first; all ways where the servers
    are few."""
    if sum(room[server] for server in order) < missing:
        return
    spread, left = Blocks(), missing
    for server in order:
        if not left:
            break
        spread.append((server, min(room[server], left)))
        left -= spread[-1][1]
    yield spread
    if len(order) <= FEW_SERVERS:
        yield from islice(_ways(order, room, missing), 1, None)


def _ways(order: Sequence[int], room: Mapping[int, int], missing: int) -> Iterator[Blocks]:
    if not missing:
        yield []
    elif sum(room[server] for server in order) >= missing:
        server, *others = order
        for count in range(min(room[server], missing), -1, -1):
            for more in _ways(others, room, missing - count):
                yield [(server, count), *more] if count else more
