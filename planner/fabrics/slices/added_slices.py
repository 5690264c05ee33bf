"""Slices that a running job takes: its ranks keep their places, those that are new lie on what is free."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, prod

from costmodel.fabrics import GroupPlan
from costmodel.fabrics.sliced import Held, Slice
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.search import require_time
from planner.fabrics.slices.free_slices import FreeSlices

MOST_LOOKS = 20_000
"""at slices, for one configuration"""
Places = Mapping[int, Device]
"""devices that stay, by place in a slice"""
Numbered = tuple[int, tuple[int, Slice]]
"""a server and a slice there, counted among those that are looked at"""
NONE_LEFT: Numbered = -1, (-1, Slice((), 0))


def grown_on_slices(
    slices: FreeSlices,
    demand: Demand,
    plans: Sequence[GroupPlan],
    devices: Sequence[Device],
    servers: Sequence[int],
    deadline_s: float = inf,
) -> Iterator[list[Device]]:
    """Devices by rank of a job whose first ranks keep `devices`, which are free; its new ranks lie on `servers`, the
    first ones first. OutOfTimeError after `deadline_s`."""
    size, fabric = prod(demand.cut), slices.fabric
    number = demand.num_ranks // size
    lie = fabric.layout(plans, [(i, tuple(range(size))) for i in range(number)])
    kept: list[dict[int, Device]] = [{} for _ in range(number)]
    for (i, place), device in zip(lie, devices, strict=False):
        kept[i][place] = device
    for chosen in _Search(slices, demand, kept, servers, deadline_s).run():
        yield fabric.layout(plans, chosen)


@dataclass
class _Search:
    """A slice for each number, disjoint: those of ranks that stay first, the others in the order of servers and slices,
    since new ones are alike."""

    slices: FreeSlices
    demand: Demand
    kept: Sequence[Places]
    servers: Sequence[int]
    deadline_s: float
    _chosen: dict[int, tuple[int, Slice]] = field(default_factory=dict)
    _taken: dict[int, int] = field(default_factory=dict)
    """masks of slots, by server"""
    _looks: int = 0

    def run(self) -> Iterator[list[Held]]:
        numbers = range(len(self.kept))
        order = sorted(numbers, key=lambda i: not self.kept[i])
        new = [(server, each) for server in self.servers for each in self.slices.usable(server, self.demand.cut)]
        open_: list[Iterator[Numbered]] = [self._looked_at(order[0], new, 0)]
        while open_ and self._looks < MOST_LOOKS:
            require_time(self.deadline_s)
            number = order[len(open_) - 1]
            self._give_back(number)
            index, (server, each) = next(open_[-1], NONE_LEFT)
            if index < 0:
                open_.pop()
                continue
            self._taken[server] = self._taken.get(server, 0) | each.mask
            self._chosen[number] = server, each
            if len(open_) < len(order):
                start = 0 if self.kept[number] else index + 1
                open_.append(self._looked_at(order[len(open_)], new, start))
            else:
                yield [(self._chosen[i][0], self._chosen[i][1].slots) for i in numbers]

    def _give_back(self, number: int) -> None:
        if number in self._chosen:
            server, each = self._chosen.pop(number)
            self._taken[server] &= ~each.mask

    def _looked_at(self, number: int, new: Sequence[tuple[int, Slice]], start: int) -> Iterator[Numbered]:
        """Slices that may be the one of a number, beside those that are chosen."""
        found = self._around(number) if self.kept[number] else new[start:]
        for index, (server, each) in enumerate(found, 0 if self.kept[number] else start):
            self._looks += 1
            if not self._taken.get(server, 0) & each.mask and self._lies_right(number, server):
                yield index, (server, each)

    def _around(self, number: int) -> list[tuple[int, Slice]]:
        """Slices in which ranks that stay have their places."""
        kept = self.kept[number]
        (server, _), *others = kept.values()
        if any(other != server for other, _ in others):
            return []
        may_add = server in self.servers or len(kept) == prod(self.demand.cut)
        found = self.slices.usable(server, self.demand.cut) if may_add else ()
        return [(server, each) for each in found if all(each.slots[p] == slot for p, (_, slot) in kept.items())]

    def _lies_right(self, number: int, server: int) -> bool:
        """Slices that a server takes together lie on one, and parts that are to lie apart on several."""
        each = self.demand.slices_together
        if each == 1 and not self.demand.is_even:
            return True
        part = number // each
        for other, (its, _) in self._chosen.items():
            if (other // each == part) != (its == server) and (other // each == part or self.demand.is_even):
                return False
        return True
