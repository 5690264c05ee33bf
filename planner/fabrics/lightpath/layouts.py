"""Layouts of the ranks of a job: servers in rank order, and tiles where slots matter."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, permutations

from costmodel.fabrics import Lightpath
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.search import runs

MAX_LAYOUTS = 24
"""orders of the servers that first fit tries for one job"""


def layouts(shape: Demand, blocks: Sequence[tuple[int, int]], most_orders: int = MAX_LAYOUTS) -> Iterator[list[int]]:
    """Servers of the blocks in rank order: runs on one server, the servers in several orders.

    With a pipeline and data replicas the blocks are also laid out stage by stage.
    """
    return orders(blocks, num_stages(shape), most_orders)


def num_stages(shape: Demand) -> int:
    """Pipeline stages of a shape whose blocks are one for each stage and data index; 1 for all others."""
    is_grid = shape.pipeline > 1 and shape.data > 1 and shape.num_blocks == shape.pipeline * shape.data
    return shape.pipeline if is_grid else 1


def orders(blocks: Sequence[tuple[int, int]], stages: int, most_orders: int = MAX_LAYOUTS) -> Iterator[list[int]]:
    """As `layouts`, for blocks of a shape with so many stages."""
    for order in islice(permutations(blocks), most_orders):
        in_runs = runs(order)
        yield in_runs
        if stages > 1 and len(blocks) > 1:
            replicas = len(in_runs) // stages
            yield [in_runs[stage * replicas + index] for index in range(replicas) for stage in range(stages)]


def arrangements(
    fabric: Lightpath, shape: Demand, servers: Sequence[int], free: Sequence[Sequence[int]]
) -> Iterator[list[Device]]:
    """Devices by rank for blocks on the given servers, in several ways; `free` are slots by server.

    A job inside one server takes the tightest run of free tiles that is farthest from the fibers. A job on several
    takes the tiles next to the fibers; its blocks also go out on every second place and return on those between, so
    that the first and the last of a ring both lie next to the fibers.
    """
    counts = Counter(servers)
    if any(count * shape.block > len(free[server]) for server, count in counts.items()):
        return
    spans = len(counts) > 1
    seen = set[tuple[Device, ...]]()
    for walk in _walks(fabric.tiles_per_server, fabric.tile_rows):
        taken = {}
        for server, count in counts.items():
            needed = count * shape.block
            slots = _first(walk, free[server], needed) if spans else _tightest_run(walk, free[server], needed)
            taken[server] = [slots[i : i + shape.block] for i in range(0, needed, shape.block)]
        for folded in (True, False) if spans else (False,):
            rest = {s: iter(_folded(blocks) if folded else blocks) for s, blocks in taken.items()}
            devices = tuple((server, slot) for server in servers for slot in next(rest[server]))
            if devices not in seen:
                seen.add(devices)
                yield list(devices)


@lru_cache(maxsize=256)
def _walks(num_tiles: int, num_rows: int) -> tuple[tuple[int, ...], ...]:
    """Orders of all tiles: column by column and row by row, each line in the same direction or to and fro."""
    num_columns = num_tiles // num_rows
    columns = [[row * num_columns + column for row in range(num_rows)] for column in range(num_columns)]
    rows = [[row * num_columns + column for column in range(num_columns)] for row in range(num_rows)]
    orders = [columns, _to_and_fro(columns), rows, _to_and_fro(rows)]
    return tuple(dict.fromkeys(tuple(slot for line in lines for slot in line) for lines in orders))


def _to_and_fro(lines: Sequence[list[int]]) -> list[list[int]]:
    return [line[::-1] if i % 2 else line for i, line in enumerate(lines)]


def _folded(blocks: Sequence[list[int]]) -> list[list[int]]:
    return [*blocks[::2], *blocks[1::2][::-1]]


def _first(walk: Sequence[int], free: Sequence[int], needed: int) -> list[int]:
    return [slot for slot in walk if slot in free][:needed]


def _tightest_run(walk: Sequence[int], free: Sequence[int], needed: int) -> list[int]:
    """Of the shortest run of free tiles that has enough, those at its far end; the last free ones where none has."""
    runs: list[list[int]] = [[]]
    for slot in walk:
        if slot in free:
            runs[-1].append(slot)
        else:
            runs.append([])
    enough = [run for run in reversed(runs) if len(run) >= needed]
    run = min(enough, key=len) if enough else [slot for run in runs for slot in run]
    return run[-needed:]
