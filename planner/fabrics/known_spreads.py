"""Ways to spread one job over servers, found once for all of its rows of which as many parts fit on each server."""

from collections.abc import Iterable, Iterator, Sequence

from planner.fabrics.demand import Demand
from planner.fabrics.search import Blocks, Search
from planner.fabrics.spreads_over_racks import FreeByRack


class KnownSpreads:
    """Spreads in one rack during one search, while nothing is taken or given back."""

    def __init__(self, racks: FreeByRack, search: Search) -> None:
        self._racks, self._search = racks, search
        self._known: dict[object, Sequence[Blocks]] = {}

    def of(self, demand: Demand) -> Iterable[Blocks]:
        """As the free state spreads a demand; a strategy that is not fixed is asked anew."""
        if not self._search.is_fixed:
            return self._racks.spreads(demand, self._search)
        key = demand.room_key, demand.servers_by_rack
        return self._known[key] if key in self._known else self._found(demand, key)

    def _found(self, demand: Demand, key: object) -> Iterator[Blocks]:
        """Spreads as they are asked for, known once all of them were."""
        found = list[Blocks]()
        for blocks in self._racks.spreads(demand, self._search):
            found.append(blocks)
            yield blocks
        self._known[key] = found
