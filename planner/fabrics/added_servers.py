"""Servers that a running job takes beside its own, where it asks for certain numbers of servers of each rack."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from costmodel.pricing.servers_by_rack import ServersByRack, ServersOfRack
from planner.fabrics.search import Blocks

Bounds = tuple[int, int]
"""fewest and most servers of one rack that the job can have, if it has any"""


def added_by_rack(
    asked: ServersByRack, missing: int, begun: Iterable[int], able: Sequence[int], rack_of: Callable[[int], int]
) -> Iterator[Blocks]:
    """So many of the servers that are able, the first ones of each rack, with which the job has of each rack what it
    asks for; `begun` are the servers that it has. Nothing where racks cannot give that."""
    has, free = Counter(map(rack_of, begun)), dict[int, list[int]]()
    for server in able:
        free.setdefault(rack_of(server), []).append(server)
    bounds = {rack: (has[rack], has[rack] + len(free.get(rack, ()))) for rack in sorted({*has, *free})}
    number = missing + has.total()
    given = _bounded(asked, number, bounds) if isinstance(asked, ServersOfRack) else _exact(asked, number, bounds)
    if given is not None:
        chosen = (server for rack, count in given.items() for server in free.get(rack, ())[: count - has[rack]])
        yield [(server, 1) for server in chosen]


def _exact(asked: Sequence[int], number: int, bounds: Mapping[int, Bounds]) -> dict[int, int] | None:
    """A number for each rack that the job has, and a rack for each number.

    From the largest number down, each goes to the rack of the job that could soonest take none any more: so as many of
    the largest ones as possible do. What is left goes to the other racks with the most room.
    """
    own = {rack for rack, (least, _) in bounds.items() if least}
    given, left = dict[int, int](), list[int]()
    for each in sorted(asked, reverse=True):
        able = [rack for rack in own - given.keys() if bounds[rack][0] <= each <= bounds[rack][1]]
        if able:
            given[min(able, key=lambda rack: (-bounds[rack][0], rack))] = each
        else:
            left.append(each)
    others = sorted(bounds.keys() - own, key=lambda rack: (-bounds[rack][1], rack))
    given |= dict(zip(others, left, strict=False))
    is_met = own <= given.keys() and all(each <= bounds[rack][1] for rack, each in given.items())
    return given if sum(asked) == number == sum(given.values()) and is_met else None


def _bounded(asked: ServersOfRack, number: int, bounds: Mapping[int, Bounds]) -> dict[int, int] | None:
    """Racks that the job has, and then as few others as possible, those with the most room first."""
    allowed = {rack: (max(least, asked.min), min(most, asked.max)) for rack, (least, most) in bounds.items()}
    used = [rack for rack, (least, _) in bounds.items() if least]
    if any(allowed[rack][0] > allowed[rack][1] or bounds[rack][0] > asked.max for rack in used):
        return None
    others = [rack for rack, (least, most) in allowed.items() if rack not in used and least <= most]
    others.sort(key=lambda rack: -allowed[rack][1])
    for more in range(len(others) + 1):
        racks = used + others[:more]
        left = number - sum(allowed[rack][0] for rack in racks)
        if left < 0:
            return None
        if left <= sum(allowed[rack][1] - allowed[rack][0] for rack in racks):
            return _filled(racks, allowed, left)
    return None


def _filled(racks: Sequence[int], allowed: Mapping[int, Bounds], left: int) -> dict[int, int]:
    """The fewest of each rack, and so many more, the first racks as many as they can give."""
    given = dict[int, int]()
    for rack in racks:
        more = min(left, allowed[rack][1] - allowed[rack][0])
        given[rack], left = allowed[rack][0] + more, left - more
    return given
