"""What fills servers: parts of jobs that need fibers by the server's name, and what these leave of all by arc flow.

In every server both are whole parts, whose sums the linear relaxation then knows: of seven devices, parts of two and of
four leave one empty.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from ortools.sat.python import cp_model

from planner.cpsat.divisions.arc_flow import ArcFlow, ServerFilling
from planner.cpsat.divisions.ways import Way
from planner.formulation.variables import total

Parts = Mapping[tuple[int, int, int], cp_model.IntVar]
"""by job, ranks and server: so many ranks of the job, which needs fibers, are there"""
Wanted = Mapping[int, Sequence[cp_model.LinearExprT]]
"""expressions whose sum is a number of parts, by ranks"""


def parts_of(ways: Mapping[Way, cp_model.IntVar]) -> Wanted:
    """Parts of the ways whose literals are true."""
    wanted: dict[int, list[cp_model.LinearExprT]] = {}
    for way, literal in ways.items():
        for ranks, number in Counter(way.division).items():
            wanted.setdefault(ranks, []).append(number * literal)
    return wanted


class FilledServers:
    """Every server has parts by name, and others in what these leave."""

    def __init__(
        self, cp: cp_model.CpModel, rooms: Mapping[int, int], parts: Parts, wanted: Wanted, *, is_tight: bool
    ) -> None:
        """`rooms`: devices of each server; `wanted`: parts that may lie in any of them; `is_tight`: for the bound of
        the linear relaxation; without, plans are sooner found."""
        self._rooms, self._left, self._named = rooms, dict[int, list[cp_model.IntVar]](), dict[int, ArcFlow]()
        servers: list[list[cp_model.LinearExprT]] = [[] for _ in range(max(rooms.values()) + 1)]
        for server, room in rooms.items():
            here: dict[int, list[cp_model.LinearExprT]] = {}
            for (_, ranks, on), literal in parts.items():
                if on == server and ranks <= room:
                    here.setdefault(ranks, []).append(literal)
            left = self._left[server] = [cp.new_bool_var("") for _ in range(room + 1)]
            cp.add_exactly_one(left)
            load = total([ranks * literal for (_, ranks, on), literal in parts.items() if on == server])
            cp.add(sum(n * literal for n, literal in enumerate(left)) + load == room)
            if here and is_tight:
                self._named[server] = ArcFlow(cp, here, left[::-1], 1)
            for n, literal in enumerate(left):
                servers[n].append(literal)
        self._others = ArcFlow(cp, wanted, [total(each) for each in servers], len(rooms))

    def fillings(self, value: Callable[[cp_model.IntVar], int]) -> Iterator[ServerFilling]:
        """What lies beside parts by name in a solution, one a server."""
        return self._others.fillings(value)

    def hint(
        self, cp: cp_model.CpModel, named: Mapping[int, Sequence[int]], others: Mapping[int, Sequence[int]]
    ) -> None:
        """Start from servers with these parts by name, and these others."""
        left = {server: room - sum(named.get(server, ())) for server, room in self._rooms.items()}
        for server, numbers in self._left.items():
            for n, literal in enumerate(numbers):
                cp.add_hint(literal, n == left[server])
        for server, flow in self._named.items():
            flow.hint(cp, [ServerFilling(self._rooms[server] - left[server], tuple(named.get(server, ())))])
        self._others.hint(cp, [ServerFilling(n, tuple(others.get(server, ()))) for server, n in left.items()])
