"""Servers filled along paths of an arc-flow graph (Valerio de Carvalho, 1999): which one has which part is left open.

Node n is a server with n devices taken, an arc from n to n + k puts k ranks of a job beside them. So a model has no
symmetry of servers, and its relaxation is next to that of whole fillings of servers.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model

from planner.formulation.variables import total


@dataclass(frozen=True)
class ServerFilling:
    """What lies in one server: parts by their ranks; some may stay empty."""

    room: int
    parts: tuple[int, ...]


class ArcFlow:
    """Flow of all servers through the graph, which covers parts that a model wants."""

    def __init__(
        self,
        cp: cp_model.CpModel,
        wanted: Mapping[int, Sequence[cp_model.LinearExprT]],
        servers: Sequence[cp_model.LinearExprT],
        num_servers: int,
    ) -> None:
        """`wanted`: expressions whose sum is the number of parts, by ranks; `servers`: how many have n devices, for n
        from 0 to the most of one."""
        self._num_servers = num_servers
        self._arcs: dict[tuple[int, int], cp_model.IntVar] = {}
        """by node and ranks put there; none is one device left empty"""
        most = len(servers) - 1
        balance: list[list[cp_model.LinearExprT]] = [[] for _ in range(most + 1)]
        reached = {0}
        for ranks in sorted(wanted, reverse=True):
            arcs = []
            for node in range(most - ranks + 1):
                if node in reached:
                    reached.add(node + ranks)
                    arcs.append(cp.new_int_var(0, num_servers, ""))
                    self._arcs[node, ranks] = arcs[-1]
                    balance[node].append(-arcs[-1])
                    balance[node + ranks].append(arcs[-1])
            cp.add(total(wanted[ranks]) <= total(arcs))
        for node in range(most):
            empty = self._arcs[node, 0] = cp.new_int_var(0, num_servers, "")
            balance[node].append(-empty)
            balance[node + 1].append(empty)
        for node, terms in enumerate(balance):
            cp.add(total(terms) == servers[node] - (num_servers if node == 0 else 0))

    def fillings(self, value: Callable[[cp_model.IntVar], int]) -> Iterator[ServerFilling]:
        """The paths of the flow of a solution, one a server."""
        flow = {arc: value(variable) for arc, variable in self._arcs.items()}
        for _ in range(self._num_servers):
            node, parts = 0, list[int]()
            while (ranks := next((k for n, k in flow if n == node and flow[n, k]), None)) is not None:
                flow[node, ranks] -= 1
                node += max(ranks, 1)
                parts += [ranks] if ranks else []
            yield ServerFilling(node, tuple(parts))

    def hint(self, cp: cp_model.CpModel, fillings: Iterable[ServerFilling]) -> None:
        """Start from servers that are filled so."""
        flow = Counter[tuple[int, int]]()
        for filling in fillings:
            node = 0
            for ranks in (*sorted(filling.parts, reverse=True), *[0] * (filling.room - sum(filling.parts))):
                flow[node, ranks] += 1
                node += max(ranks, 1)
        for arc, variable in self._arcs.items():
            cp.add_hint(variable, flow[arc])
