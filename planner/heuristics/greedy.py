"""Place jobs one after the other, each with its first candidate that fits: the frame of all heuristic policies."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from costmodel.fabrics import Cut
from planner.candidates.lagrangian_bounds import has_prices, pool_prices
from planner.fabrics.demand import Demand
from planner.fabrics.free_state import FreeState
from planner.fabrics.ocs_rail.rails import FreeRails
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.sipam.demand import pool_demand
from planner.model.clock import Clock
from planner.model.plan import Assignment

MAX_FAILED = 30
"""so often a job is routed across servers in vain before only single servers are tried"""
LEAST_S = 0.5
"""seconds that a heuristic has, if nothing else was left: there is always a plan"""
MAX_STARTS = 8
"""servers from which a job on rails is spread"""
RailGroup = tuple[int, list[int], int]
"""(number of free rails, servers, mask of these rails) of servers with the same free rails"""
Blocks = list[tuple[int, int]]
"""(server, number of blocks)"""
Strategy = Callable[[FreeState, Demand], Iterable[Blocks]]
"""Ways to spread a shape over servers with enough free devices, the best first."""
RowOrder = Callable[[JobOptions], Sequence[int]]


def place_all(
    problem: Problem,
    strategy: Strategy,
    *,
    row_order: RowOrder = JobOptions.rows_by_value,
    job_order: Sequence[int] | None = None,
    clock: Clock | None = None,
) -> list[Assignment] | None:
    """Assignments of residents and of every job that fits, or None if one that must run does not.

    Residents that can stay do so; then displaced residents, required jobs, and the others, each in the given
    order (arrival by default). When the clock is over, jobs that may wait do.
    """
    board = FreeState.empty(problem.cluster)
    assignments: list[Assignment] = []
    order = list(range(len(problem.options))) if job_order is None else list(job_order)
    for j in order:
        if problem.options[j].can_stay:
            assignments.append(problem.options[j].staying())
            board.take(assignments[-1])
    clock = None if clock is None else clock.lasting(LEAST_S)
    waiting = [j for j in order if not problem.options[j].can_stay]
    for j in sorted(waiting, key=lambda j: not problem.options[j].must_run):
        if clock is not None and clock.is_over and not problem.options[j].must_run:
            break
        found = place(board, problem.options[j], strategy, row_order(problem.options[j]))
        if found is not None:
            assignments.append(found)
        elif problem.options[j].must_run:
            return None
    return assignments


def place(board: FreeState, options: JobOptions, strategy: Strategy, rows: Iterable[int]) -> Assignment | None:
    """Place one job with the first of the rows that fits, and take what it needs."""
    hopeless: set[tuple[int, int, Cut, tuple[int, ...]]] = set()
    num_failed = 0
    for row in rows:
        shape = options.shapes[row]
        needs_rails, held = board.needs_rails(shape), (shape.held_units, shape.held_io)
        kind = shape.num_ranks, shape.block, shape.cut, (shape.num_ports,) if needs_rails else held
        if kind in hopeless:
            continue
        found_any = False
        for blocks in rail_blocks(board, shape) if needs_rails else strategy(board, shape):
            found_any = True
            if len(blocks) > 1 and num_failed == MAX_FAILED:
                continue
            if has_light(board, shape, blocks):
                assignment = board.realize(options, row, blocks)
                if assignment is not None:
                    return assignment
                num_failed += 1
        if not found_any:
            hopeless.add(kind)
    return None


def has_light(board: FreeState, shape: Demand, blocks: Blocks) -> bool:
    """Whether enough wavelengths are free between the servers; necessary, not sufficient."""
    if board.light is None or len(blocks) == 1 or not shape.has_light:
        return True
    for server, count in blocks:
        others = [other for other, _ in blocks if other != server]
        needed = int(shape.boundary[count])
        if sum(board.light.room(server, other) for other in others) < needed:
            return False
        if sum(board.light.room(other, server) for other in others) < needed:
            return False
    return True


def free_blocks(board: FreeState, shape: Demand, server: int) -> int:
    """Blocks of a shape that fit on a server, or parts on slices where first fit finds these."""
    if shape.cut:
        assert board.cuts is not None
        return len(board.cuts.disjoint(server, shape.cut)) // shape.slices_together
    ranks = len(board.slots.free(server, single=shape.num_ranks == 1))
    if board.pool is not None and shape.memory_units:
        ranks = min(ranks, board.pool.racks[server].room(pool_demand(shape)))
    return board.shares.room(shape, server, ranks) // shape.part


def racks(board: FreeState) -> Iterator[list[int]]:
    """Servers that one job may use together."""
    fabric = board.cluster.fabric
    if fabric.links_racks:
        yield list(range(fabric.num_servers))
        return
    for rack in range(fabric.racks):
        yield list(range(rack * fabric.servers, (rack + 1) * fabric.servers))


def fill(board: FreeState, shape: Demand, servers: Sequence[int]) -> Blocks | None:
    """Blocks onto servers in the given order, each filled before the next; None if they do not fit."""
    blocks, missing = [], shape.num_parts
    for server in servers:
        count = min(missing, shape.most_parts, free_blocks(board, shape, server))
        if count:
            blocks.append((server, count))
            missing -= count
        if missing == 0:
            return sorted(blocks)
    return None


def in_order(board: FreeState, shape: Demand) -> Iterator[Blocks]:
    """The first servers with free devices."""
    for servers in racks(board):
        found = fill(board, shape, servers)
        if found is not None:
            yield found


def tightest(board: FreeState, shape: Demand) -> Iterator[Blocks]:
    """The one server with the least room to spare, or as few servers as possible, the last the tightest."""
    for servers in racks(board):
        room = {s: free_blocks(board, shape, s) for s in servers}
        able = {s: min(room[s], shape.most_parts) for s in servers}
        enough = [s for s in servers if able[s] >= shape.num_parts]
        if enough:
            yield [(min(enough, key=lambda s: (room[s], s)), shape.num_parts)]
            continue
        order = sorted((s for s in servers if room[s]), key=lambda s: (-able[s], room[s], s))
        for first in range(min(3, len(order))):
            found = _few_servers(order[first:], room, able, shape.num_parts)
            if found is not None:
                yield found


def _few_servers(order: Sequence[int], room: dict[int, int], able: dict[int, int], missing: int) -> Blocks | None:
    """The servers that take the most, then the tightest one that takes the rest."""
    blocks: Blocks = []
    for i, server in enumerate(order):
        if able[server] >= missing:
            last = min((s for s in order[i:] if able[s] >= missing), key=lambda s: room[s])
            return sorted([*blocks, (last, missing)])
        blocks.append((server, able[server]))
        missing -= able[server]
    return None


def rail_blocks(board: FreeState, shape: Demand) -> Iterator[Blocks]:
    """Servers for a job on the rails of a board."""
    assert board.rails is not None
    return on_rails(board.rails, shape, [sum(1 << slot for slot in slots) for slots in board.slots.lit])


def on_rails(rails: FreeRails, shape: Demand, lit: Sequence[int]) -> Iterator[Blocks]:
    """Servers with one block each that have rails in common, started from the fullest ones that have room.

    From each start the servers that leave the most common rails join, of equal ones the fullest. `lit` are masks of the
    free devices with a port, by server.
    """
    usable, block, num_blocks = rails.mask(shape.num_ports), shape.block, shape.num_blocks
    alike: dict[int, list[int]] = {}
    for server, slots in enumerate(lit):
        alike.setdefault(slots & usable, []).append(server)
    groups = [(mask.bit_count(), servers, mask) for mask, servers in alike.items() if mask.bit_count() >= block]
    if sum([len(servers) for _, servers, _ in groups]) < num_blocks:
        return
    starts = sorted([(number, first, mask) for number, servers, mask in groups for first in servers[:MAX_STARTS]])
    in_vain = set[int]()
    for _, first, mask in starts[:MAX_STARTS]:
        chosen = [] if mask in in_vain else _joined(groups, first, mask, block, num_blocks)
        if chosen:
            yield [(server, 1) for server in sorted(chosen)]
            return
        in_vain.add(mask)


def _joined(groups: Sequence[RailGroup], first: int, common: int, block: int, num_blocks: int) -> list[int]:
    """A server and those that join it; empty where they leave too few common rails. All that leave the same rails as
    before join at once."""
    chosen, left = [first], [*groups]
    while True:
        whole = [(number, server) for number, servers, mask in left if common & mask == common for server in servers]
        chosen += [server for _, server in sorted(whole) if server != first][: num_blocks - len(chosen)]
        if len(chosen) == num_blocks:
            return chosen
        left = [each for each in left if common & each[2] != common and (common & each[2]).bit_count() >= block]
        if not left:
            return []
        common &= min(left, key=lambda each: (-(common & each[2]).bit_count(), each[0], each[1][0]))[2]


def price_per_device(problem: Problem) -> float:
    """The smallest price at which the best row of every job fits into the healthy devices together."""
    devices = problem.cluster.num_healthy
    low = 0.0
    high = max((float((o.value / o.candidates.num_devices).max(initial=0.0)) for o in problem.options), default=0.0)
    for _ in range(40):
        price = (low + high) / 2
        taken = sum(_taken(options, price) for options in problem.options)
        low, high = (price, high) if taken > devices else (low, price)
    return high


def priced_rows(problem: Problem) -> tuple[RowOrder, list[int]]:
    """Rows and jobs in the order of the knapsack relaxation: value less a price per device."""
    if has_prices(problem):
        return _priced_in_pool(problem)
    high = price_per_device(problem)

    def order(options: JobOptions) -> Sequence[int]:
        reduced = options.value - high * options.candidates.num_devices
        return [int(row) for row in np.argsort(-reduced, kind="stable")]

    density = [float((o.value / o.candidates.num_devices).max(initial=0.0)) for o in problem.options]
    sizes = [int(o.candidates.num_devices[order(o)[0]]) if len(o) else 0 for o in problem.options]
    worth = [float((o.value - high * o.candidates.num_devices).max(initial=0.0)) for o in problem.options]
    jobs = sorted(range(len(problem.options)), key=lambda j: (worth[j] <= 0, -sizes[j], -density[j]))
    return order, jobs


def _priced_in_pool(problem: Problem) -> tuple[RowOrder, list[int]]:
    """Value less the prices of accelerators, memory units, ports and uplinks; jobs with the largest share first."""
    prices = pool_prices(problem)
    by_job = {options.job.name: reduced for options, reduced in zip(problem.options, prices.reduced, strict=True)}

    def order(options: JobOptions) -> Sequence[int]:
        return [int(row) for row in np.argsort(-by_job[options.job.name], kind="stable")]

    def rank(j: int) -> tuple[bool, float]:
        reduced = prices.reduced[j]
        if not len(reduced):
            return True, 0.0
        best = int(np.argmax(reduced))
        return bool(reduced[best] <= 0), -float(prices.shares[j][best].max())

    return order, sorted(range(len(problem.options)), key=rank)


def _taken(options: JobOptions, price: float) -> int:
    if not len(options):
        return 0
    reduced = options.value - price * options.candidates.num_devices
    best = int(np.argmax(reduced))
    return int(options.candidates.num_devices[best]) if reduced[best] > 0 or options.must_run else 0
