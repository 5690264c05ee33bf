"""Racks with pooled memory under a controller: what is held, and a store that owns each part once."""

from typing import Any

from planner.controller import Controller, Request
from planner.placement.placement import Place
from tests.planner.controller.sites import request

SCARCE: dict[str, Any] = {"units_per_tray": 16, "tray_ports": 3, "uplinks": 2}
"""a pool in which memory and uplinks are short before accelerators are"""


def names_of(place: Any) -> set[str]:
    """Units, ports and uplinks that a place holds."""
    found = {name for plug in place.memory for name in (plug.port, *plug.units)}
    return found.union(*(c.fibers for held in place.circuits for c in held.circuits))


def spread(c: Controller) -> tuple[Request, Place]:
    """A job of 12 accelerators over two servers, beside another."""
    c.submit(request("other", 2))
    c.submit(request("job", 12))
    place = c.running["job"]
    assert len(place.servers) == 2
    return c.job("job").request, place
