"""Nodes of each rack that users ask for by an annotation: exact numbers (1,3,4), or bounds of each rack (2-4)."""

import re
from collections.abc import Mapping
from typing import Any

from planner.integrations.kubernetes.config import DOMAIN, KubernetesSite

KEY = f"{DOMAIN}/nodes-by-rack"
MOST_RACKS = 4096
Asked = tuple[int, ...] | dict[str, int]
"""numbers of nodes, or {min, max}"""


def nodes_by_rack(annotations: Mapping[str, str]) -> Asked | None:
    """As the user says; None where nothing is said. ValueError for anything else."""
    text = annotations.get(KEY)
    if text is None:
        return None
    if bounds := re.fullmatch(r"([1-9]\d{0,8})-([1-9]\d{0,8})", text, re.ASCII):
        least, most = map(int, bounds.groups())
        if least <= most:
            return {"min": least, "max": most}
    elif re.fullmatch(r"[1-9]\d{0,8}(,[1-9]\d{0,8})*", text, re.ASCII) and text.count(",") < MOST_RACKS:
        return tuple(map(int, text.split(",")))
    raise ValueError(f"{KEY}: '{text[:100]}' is neither nodes of racks, as 1,3,4, nor bounds of each rack, as 2-4")


def pods_of_node(asked: Asked, pods: int, each: int, per_node: int, site: KubernetesSite) -> int:
    """Pods on each node, of which `per_node` are asked for, 0 where nothing is said; ValueError where these numbers
    of nodes do not take the pods."""
    room = site.per_node // each
    if isinstance(asked, tuple):
        found = per_node or pods // sum(asked)
        if found * sum(asked) != pods or found > room:
            on = f"{per_node} on each" if per_node else f"as many on each, {room} at most"
            raise ValueError(f"{KEY}: {sum(asked)} nodes do not take {pods} pods, {on}; ask for other numbers")
        return found
    if not per_node and room > 1:
        raise ValueError(f"{KEY}: bounds need {DOMAIN}/pods-per-node, as {room} pods fit on a node; add it")
    return per_node or 1


def servers_by_rack(asked: Asked, site: KubernetesSite) -> Any:
    """The same in servers, as a constraint of a job has it; ValueError where these are no whole servers."""
    size = site.nodes_per_server
    numbers = asked if isinstance(asked, tuple) else tuple(asked.values())
    if site.has_hosts:
        raise ValueError(f"{KEY}: jobs here take partitions of cubes, not nodes of racks; leave it out")
    if any(number % size for number in numbers):
        raise ValueError(f"{KEY}: a server is {size} nodes, and racks give whole servers; ask for multiples of {size}")
    servers = [number // size for number in numbers]
    return servers if isinstance(asked, tuple) else dict(zip(asked, servers, strict=True))
