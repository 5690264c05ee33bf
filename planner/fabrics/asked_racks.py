"""Where a job lies that asks for so many servers of each rack, on fabrics that link racks."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from costmodel.fabrics import FabricBase
from costmodel.pricing.servers_by_rack import is_met, shared_out
from planner.fabrics.demand import Demand
from planner.fabrics.search import Blocks, Search


def lies_as_asked(demand: Demand, servers: Iterable[int], fabric: FabricBase) -> bool:
    """True if these servers, each named once or more, are as many of each rack as the job asks for."""
    asked = demand.servers_by_rack
    return asked is None or is_met(asked, Counter(map(fabric.rack_of, {*servers})).values())


def spreads_by_rack(
    demand: Demand, room: Sequence[int], groups: Iterable[Sequence[int]], search: Search, fabric: FabricBase
) -> Iterator[Blocks]:
    """One spread of each group of servers that may be used together, where the numbers can be had of its racks; the
    strategy chooses servers inside a rack."""
    for servers in groups:
        racks = with_room(room, (server for server in servers if server not in search.barred), fabric)
        given = shared(demand, [len(able) for able in racks])
        if given is not None:
            asked = ((able, number) for able, number in zip(racks, given, strict=True) if number)
            inside = [next(iter(search.strategy(room, able, number, 1)), None) for able, number in asked]
            found = [block for blocks in inside if blocks is not None for block in blocks]
            if len(found) == demand.num_parts:
                yield found


def with_room(room: Sequence[int], servers: Iterable[int], fabric: FabricBase) -> list[list[int]]:
    """By rack those of the servers that hold a part."""
    racks: list[list[int]] = [[] for _ in range(fabric.racks)]
    for server in servers:
        if room[server]:
            racks[fabric.rack_of(server)].append(server)
    return racks


def shared(demand: Demand, room: Sequence[int]) -> list[int] | None:
    """Servers of each rack that the job takes, where so many have room; None where it cannot lie there."""
    assert demand.servers_by_rack is not None
    return shared_out(demand.servers_by_rack, demand.num_parts, room)
