"""Ways to spread a job over servers, the best first, from the number of its parts that each server has room for.

They are those of `planner.heuristics.greedy` and `planner.policies`, over counts that are kept instead of counted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random

Blocks = list[tuple[int, int]]
"""(server, number of parts), ascending"""
Strategy = Callable[[Sequence[int], Sequence[int], int, int], Iterable[Blocks]]
"""(parts that fit by server, servers that one job may use together, parts, parts that one server may take at most)"""
FEW_STARTS = 3


def in_order(room: Sequence[int], servers: Sequence[int], parts: int, whole: int) -> Iterator[Blocks]:
    """The first servers with room, each filled before the next."""
    blocks: Blocks = []
    missing = parts
    for server in servers:
        count = min(room[server], whole)
        if count >= missing:
            yield [*blocks, (server, missing)]
            return
        if count:
            blocks.append((server, count))
            missing -= count


def tightest(room: Sequence[int], servers: Sequence[int], parts: int, whole: int) -> Iterator[Blocks]:
    """The one server with the least room to spare, or as few servers as possible, the last the tightest."""
    enough = [server for server in servers if room[server] >= parts] if parts <= whole else []
    if enough:
        yield [(min(enough, key=room.__getitem__), parts)]
        return
    order = [s for _, _, s in sorted([(-min(room[s], whole), room[s], s) for s in servers if room[s]])]
    for first in range(min(FEW_STARTS, len(order))):
        blocks: Blocks = []
        missing = parts
        for i in range(first, len(order)):
            server = order[i]
            count = min(room[server], whole)
            if count >= missing:
                last = min((s for s in order[i:] if room[s] >= missing), key=lambda s: room[s])
                yield sorted([*blocks, (last, missing)])
                break
            blocks.append((server, count))
            missing -= count


def aligned(room: Sequence[int], servers: Sequence[int], parts: int, whole: int) -> Iterator[Blocks]:
    """Servers that have all they may give, the remainder on the tightest server that takes it whole."""
    if whole == 0:
        return
    count, remainder = divmod(parts, whole)
    full = [s for s in servers if room[s] >= whole][:count]
    if len(full) < count:
        return
    blocks = [(s, whole) for s in full]
    if remainder:
        enough = [s for s in servers if s not in full and room[s] >= remainder]
        if not enough:
            return
        blocks.append((min(enough, key=lambda s: (room[s], s)), remainder))
    yield sorted(blocks)


def shuffled(generator: Random) -> Strategy:
    """Servers in random order, each filled before the next."""

    def anywhere(room: Sequence[int], servers: Sequence[int], parts: int, whole: int) -> Iterator[Blocks]:
        for blocks in in_order(room, generator.sample(list(servers), len(servers)), parts, whole):
            yield sorted(blocks)

    return anywhere
