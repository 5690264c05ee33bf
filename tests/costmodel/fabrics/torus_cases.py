"""Shared by the tests of `boxes` and `torus`."""

from math import prod
from typing import Any

import networkx as nx
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import lil_matrix

from costmodel.fabrics import NO_PLAN, LinkPlan, Torus
from costmodel.fabrics.group_plans import GroupPlan

LINK, ALPHA = 50e9, 1e-6
SWITCHES = {"ports": 32, "energy": "20 pJ/b"}
Sides = tuple[int, int, int]


def torus(sides: Sides = (4, 4, 4), **fields: Any) -> Torus:
    data = {"servers": 1, "sides": sides, "link_bandwidth": LINK, "alpha": ALPHA, "link_energy": "10 pJ/b"}
    return Torus.model_validate(data | fields)


def cubes(sides: Sides = (2, 2, 2), servers: int = 8, **fields: Any) -> Torus:
    return torus(sides, servers=servers, switches=SWITCHES, **fields)


def taking(kind: Any, box: Sides) -> LinkPlan:
    return LinkPlan(kind, prod(box), radices=box) if box != (1, 1, 1) else NO_PLAN


def job(
    tensor: Sides = (1, 1, 1),
    pipeline: Sides = (1, 1, 1),
    data: Sides = (1, 1, 1),
    context: Sides = (1, 1, 1),
    expert: Sides = (1, 1, 1),
) -> list[GroupPlan]:
    return [
        taking("bucket", tensor),
        taking("chain", pipeline),
        taking("bucket", data),
        taking("bucket", context),
        taking("routed", expert),
    ]


def least_load(graph: "nx.Graph[Any]") -> float:
    """Of the busiest link in one direction: the best flows of all shares, those of one chip together."""
    chips, links = [*graph], [*graph.to_directed().edges]
    number, n, m = {chip: i for i, chip in enumerate(graph)}, len(graph), len(links)
    conserved, wanted = lil_matrix((n * n, n * m + 1)), np.full(n * n, 1 / n)
    carried = lil_matrix((m, n * m + 1))
    for source in range(n):
        wanted[source * n + source] = 1 / n - 1
        for link, (a, b) in enumerate(links):
            conserved[source * n + number[b], source * m + link] = 1
            conserved[source * n + number[a], source * m + link] = -1
            carried[link, source * m + link] = 1
    carried[:, -1] = -1
    cost = np.zeros(n * m + 1)
    cost[-1] = 1
    found = linprog(cost, A_ub=carried.tocsr(), b_ub=np.zeros(m), A_eq=conserved.tocsr(), b_eq=wanted, method="highs")
    assert found.status == 0, (found.message, len(chips))
    return float(found.fun)
