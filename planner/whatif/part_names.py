"""Names of the parts of one fabric, told to whoever gave a name that none of them has."""

import difflib
from collections.abc import Iterable, Iterator
from itertools import islice

from planner.model.cluster import Cluster

WORDS = {
    "tile": "an accelerator", "port": "its port", "fiber": "a fiber", "laser": "a laser", "receiver": "a receiver",
    "switch": "an optical switch", "memory unit": "a memory unit", "tray port": "a port of a tray",
    "uplink": "an uplink", "memory node": "a memory node", "rack link": "a link between racks",
}  # fmt: skip
"""kinds of parts that can fail"""
MOST_COMPARED = 100_000
"""names that are compared with a wrong one"""


def told_parts(cluster: Cluster, name: str) -> str:
    """nearest is s0.g1; parts are s0.g0 (an accelerator), s0.g0:port (its port), ...: one name of each kind."""
    inventory = cluster.fabric.inventory()
    firsts = {kind: next(iter(inventory[kind].names()), None) for kind in WORDS if kind in inventory}
    parts = ", ".join(f"{first} ({WORDS[kind]})" for kind, first in firsts.items() if first is not None)
    near = nearest(name, _names(cluster))
    return f"nearest is {near}; parts are {parts}" if near else f"parts are {parts}"


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that is most like another one; None where none is like it."""
    found = difflib.get_close_matches(name, islice(names, MOST_COMPARED), n=1)
    return found[0] if found else None


def _names(cluster: Cluster) -> Iterator[str]:
    inventory = cluster.fabric.inventory()
    return (name for kind in WORDS if kind in inventory for name in inventory[kind].names())
