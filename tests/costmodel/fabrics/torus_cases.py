"""Shared by the tests of `boxes` and `torus`."""

from math import prod
from typing import Any

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
