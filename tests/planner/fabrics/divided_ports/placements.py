"""Every choice of rows that servers have room for, one by one: shares no code with prices or fillings of servers."""

from collections.abc import Iterator
from itertools import product

from costmodel.fabrics import DividedPorts
from planner.fabrics.problem import Problem

Server = tuple[int, ...]
"""accelerators, modules, ports and units of a second tier that are left"""


def placeable(problem: Problem) -> Iterator[tuple[tuple[int | None, ...], float]]:
    """Rows of all jobs, None where one waits, and their value: of rows that ask for the same only the best one."""
    cluster = problem.cluster
    assert isinstance(cluster.fabric, DividedPorts)
    shared = cluster.fabric.shared
    assert shared is not None
    servers: list[Server] = [(len(cluster.healthy_slots(s)), *shared) for s in range(cluster.fabric.num_servers)]
    choices: list[list[int | None]] = []
    for options in problem.options:
        best: dict[tuple[int, ...], int] = {}
        for row in options.rows_by_value():
            shape = options.shapes[row]
            best.setdefault((shape.num_ranks, shape.part, shape.held_units, shape.held_io, shape.tier_units), row)
        waiting: list[int | None] = [] if options.must_run else [None]
        choices.append([*waiting, *best.values()])
    for rows in product(*choices):
        blocks = list[Server]()
        for options, chosen in zip(problem.options, rows, strict=True):
            if chosen is not None:
                shape = options.shapes[chosen]
                each = shape.held_units, shape.held_io, shape.tier_units
                block = shape.part, *(shape.part * amount for amount in each)
                blocks += [block] * (shape.num_ranks // shape.part)
        if _fit(sorted(blocks, reverse=True), servers):
            values = (o.value[row] for o, row in zip(problem.options, rows, strict=True) if row is not None)
            yield rows, float(sum(values))


def _fit(blocks: list[Server], servers: list[Server]) -> bool:
    if not blocks:
        return True
    for server in dict.fromkeys(servers):
        left = tuple(there - takes for there, takes in zip(server, blocks[0], strict=True))
        if all(each >= 0 for each in left):
            others = [*servers]
            others[others.index(server)] = left
            if _fit(blocks[1:], others):
                return True
    return False
