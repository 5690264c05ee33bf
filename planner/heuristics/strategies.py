"""Ways to spread the blocks of a job over servers, the best first: the one set for plans, replays and the controller.

Each is told how many blocks fit on each server, which servers one job may use together (ascending), how many blocks the
job has, and how many of them an empty server takes.
"""

from collections.abc import Iterator, Sequence
from random import Random

from planner.fabrics.room_index import Room
from planner.fabrics.search import Blocks, Strategy

FEW_STARTS = 3
"""servers of the tightest spread that are left out in turn"""


def in_order(room: Sequence[int], servers: Sequence[int], blocks: int, most: int) -> Iterator[Blocks]:
    """First fit: the first servers with room, each filled before the next."""
    if len(servers) == len(room) and isinstance(room, Room):
        yield from room.in_order(blocks, most)
        return
    spread: Blocks = []
    missing = blocks
    for server in servers:
        count = min(room[server], most)
        if count >= missing:
            yield [*spread, (server, missing)]
            return
        if count:
            spread.append((server, count))
            missing -= count


def tightest(room: Sequence[int], servers: Sequence[int], blocks: int, most: int) -> Iterator[Blocks]:
    """Best fit: the one server with the least room to spare, or as few servers as possible, the last the tightest."""
    if len(servers) == len(room) and isinstance(room, Room):
        yield from room.tightest(blocks, most, FEW_STARTS)
        return
    enough = [server for server in servers if room[server] >= blocks] if blocks <= most else []
    if enough:
        yield [(min(enough, key=room.__getitem__), blocks)]
        return
    order = [s for _, _, s in sorted([(-min(room[s], most), room[s], s) for s in servers if room[s]])]
    for first in range(min(FEW_STARTS, len(order))):
        spread: Blocks = []
        missing = blocks
        for i in range(first, len(order)):
            server = order[i]
            count = min(room[server], most)
            if count >= missing:
                last = min((s for s in order[i:] if room[s] >= missing), key=room.__getitem__)
                yield sorted([*spread, (last, missing)])
                break
            spread.append((server, count))
            missing -= count


def aligned(room: Sequence[int], servers: Sequence[int], blocks: int, most: int) -> Iterator[Blocks]:
    """Servers that have all they may give, the remainder on the tightest server that takes it whole."""
    if most == 0:
        return
    if len(servers) == len(room) and isinstance(room, Room):
        yield from room.aligned(blocks, most)
        return
    count, remainder = divmod(blocks, most)
    full = [s for s in servers if room[s] >= most][:count]
    if len(full) < count:
        return
    spread = [(s, most) for s in full]
    if remainder:
        others = set(servers).difference(full)
        enough = [s for s in others if room[s] >= remainder]
        if not enough:
            return
        spread.append((min(enough, key=lambda s: (room[s], s)), remainder))
    yield sorted(spread)


def shuffled(generator: Random) -> Strategy:
    """Servers in random order, each filled before the next."""

    def anywhere(room: Sequence[int], servers: Sequence[int], blocks: int, most: int) -> Iterator[Blocks]:
        for spread in in_order(room, generator.sample(list(servers), len(servers)), blocks, most):
            yield sorted(spread)

    return anywhere


def over_evenly(parts: Sequence[int]) -> Strategy:
    """The tightest spreads, then the blocks dealt out evenly over the first so many servers with room."""

    def ways(room: Sequence[int], servers: Sequence[int], blocks: int, most: int) -> Iterator[Blocks]:
        yield from tightest(room, servers, blocks, most)
        for number in parts:
            able = [s for s in servers if room[s] >= -(-blocks // number)]
            if number <= min(blocks, len(able)) and -(-blocks // number) <= most:
                yield _dealt(blocks, able[:number])

    return ways


def scattered(generator: Random, parts: Sequence[int]) -> Strategy:
    """The tightest servers that hold all, or the tightest spread; then the blocks dealt out evenly over some servers
    at random: where light inside a server is short, ranks beside the fibers reach others better than each other."""

    def ways(room: Sequence[int], servers: Sequence[int], blocks: int, most: int) -> Iterator[Blocks]:
        enough = sorted((s for s in servers if room[s] >= blocks), key=room.__getitem__) if blocks <= most else []
        yield from ([(server, blocks)] for server in enough[:FEW_STARTS])
        if not enough:
            yield from tightest(room, servers, blocks, most)
        numbers = [number for number in parts if number <= blocks]
        number = generator.choice(numbers) if numbers else 0
        able = [s for s in servers if room[s] >= -(-blocks // number)] if number else []
        if number and number <= len(able) and -(-blocks // number) <= most:
            yield _dealt(blocks, generator.sample(able, number))

    return ways


def _dealt(blocks: int, servers: Sequence[int]) -> Blocks:
    """So many blocks over all these servers, the first ones with one more where they do not divide evenly."""
    share, more = divmod(blocks, len(servers))
    return sorted((server, share + (i < more)) for i, server in enumerate(servers))
