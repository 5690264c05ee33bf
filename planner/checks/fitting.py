"""How many jobs of one size still fit: an exact search over the servers of a rack, and bounds where these are many."""

from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import combinations

Free = tuple[tuple[int, int], ...]
"""(server, free devices), ascending"""
Links = frozenset[tuple[int, int]]
"""pairs of servers, the lower first, that a job may span"""
MOST_SEARCHED = 12
"""servers with free devices up to which the search is begun"""
MOST_PARTS = 3_000
"""parts that one search looks at"""


@lru_cache(maxsize=65536)
def jobs_between(free: tuple[int, ...], links: Links, size: int) -> tuple[int, int]:
    r"""Bounds on the most jobs of `size` >= 2 at once, each inside a server or across two linked ones.

    They are equal where few servers have free devices. Two jobs across the same pair can be
    exchanged for one across it and one inside a server, and on a cycle of jobs across servers devices can be shifted
    around until one of them lies inside a server. So jobs across servers form a forest, with one job at most for each
    pair. A leaf of it runs what fits inside and gives the rest to its one job across, whose other devices its parent
    provides.
    """
    counts = [(server, count) for server, count in enumerate(free) if count]
    number = {server: i for i, (server, _) in enumerate(counts)}
    links = frozenset((number[a], number[b]) for a, b in links if a in number and b in number)
    part = tuple((number[server], count) for server, count in counts)
    search = _Search(len(part), links, size)
    if len(part) > MOST_SEARCHED:
        return _lent(dict(part), links, size), search.bound(part)
    found = search.most(part)
    return found, search.bound(part) if search.is_cut else found


def _lent(left: dict[int, int], links: Links, size: int) -> int:
    """The number that surely fits: one server after the other, that with the fewest devices first, runs what it can by
    itself and closes; what it has left joins a job whose other devices the linked one with the most gives, if it has as
    many."""
    jobs = 0
    for _ in range(len(left)):
        closing = min(sorted(left), key=left.__getitem__)
        jobs += left[closing] // size
        missing = -left.pop(closing) % size
        partners = [s for s in sorted(left) if (min(closing, s), max(closing, s)) in links]
        lender = max(partners, key=left.__getitem__, default=None)
        if missing and lender is not None and left[lender] >= missing:
            jobs += 1
            left[lender] -= missing
    return jobs


class _Search:
    """Branch and bound over the leaves of the forest; each connected part is solved once."""

    def __init__(self, num_servers: int, links: Links, size: int) -> None:
        self._links, self._size = links, size
        self._known: dict[Free, int] = {}
        self._num_servers = num_servers

    @property
    def is_cut(self) -> bool:
        """True if the search ended before all parts were looked at."""
        return len(self._known) > MOST_PARTS

    @cached_property
    def _twins(self) -> list[list[int]]:
        """By server: those that are linked alike."""
        servers = range(self._num_servers)
        near = [frozenset(b for b in servers if self._may_span(a, b)) for a in servers]
        return [[b for b in servers if near[b] - {a} == near[a] - {b}] for a in servers]

    def most(self, free: Free) -> int:
        return sum(self._most_of_part(self._in_order(part)) for part in self._parts(free))

    def _in_order(self, part: Free) -> Free:
        """The same part, with the most devices on the first of servers that are linked alike."""
        counts: dict[int, list[int]] = {}
        for server, count in part:
            counts.setdefault(self._twins[server][0], []).append(count)
        ordered = [
            item
            for first, of_class in counts.items()
            for item in zip(self._twins[first], sorted(of_class, reverse=True), strict=False)
        ]
        return tuple(sorted(ordered))

    def bound(self, free: Free) -> int:
        """All devices of joined servers are of use."""
        return sum(sum(count for _, count in part) // self._size for part in self._parts(free))

    def _most_of_part(self, part: Free) -> int:
        if part in self._known:
            return self._known[part]
        most = sum(count // self._size for _, count in part)
        bound = sum(count for _, count in part) // self._size
        if most < bound and not self.is_cut:
            for gained, rest in self._leaves(part):
                if gained + self.bound(rest) > most:
                    most = max(most, gained + self.most(rest))
                if most == bound or self.is_cut:
                    break
        self._known[part] = most
        return most

    def _leaves(self, part: Free) -> Iterator[tuple[int, Free]]:
        """Jobs gained and devices left with one server closed, parents with the best fit first."""
        chosen = self._surely_leaf(part)
        options = []
        for leaf, count in part:
            missing = -count % self._size
            for parent, spare in part:
                if chosen in (None, leaf) and missing and spare >= missing and self._may_span(leaf, parent):
                    breaks_one = spare % self._size < missing
                    options.append((breaks_one, (spare - missing) % self._size, leaf, parent, missing))
        counts = dict(part)
        for *_, leaf, parent, missing in sorted(options):
            rest = {**counts, parent: counts[parent] - missing}
            del rest[leaf]
            yield counts[leaf] // self._size + 1, tuple((s, count) for s, count in rest.items() if count)
        if chosen is not None:
            yield 0, tuple((s, count) for s, count in part if s != chosen)

    def _surely_leaf(self, part: Free) -> int | None:
        """A server that is a leaf or alone in some best forest: less than a job, partners linked in pairs.

        Were it the end of several jobs, one partner could take over its end of the others, and let it
        provide more of their common job in exchange.
        """
        for server, count in sorted(part, key=lambda item: item[1]):
            if count >= self._size:
                return None
            partners = [s for s, c in part if self._may_span(server, s) and count + c >= self._size]
            if all(self._may_span(a, b) for a, b in combinations(partners, 2)):
                return server
        return None

    def _may_span(self, a: int, b: int) -> bool:
        return (min(a, b), max(a, b)) in self._links

    def _parts(self, free: Free) -> list[Free]:
        """Servers joined by pairs that together hold a job."""
        left, parts = dict(free), []
        while left:
            part = dict([left.popitem()])
            frontier = [*part]
            while frontier:
                here = frontier.pop()
                near = [s for s in left if self._may_span(here, s) and part[here] + left[s] >= self._size]
                part |= {server: left.pop(server) for server in near}
                frontier += near
            parts.append(tuple(sorted(part.items())))
        return parts
