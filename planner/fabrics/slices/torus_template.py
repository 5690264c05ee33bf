"""A torus of chips, for a new instance."""

from typing import Any

from planner.fabrics.template import Template
from planner.slices.torus_boxes import most_cubic

PORTS = 136
"""of a switch, where these suffice"""
SWITCHES = """\
    switches:                          # join servers to larger boxes; without them every server is on its own
      ports: {ports:<25} # of one switch: two for each server
      energy: 20 pJ/b                  # from server to server
      reconfiguration: 20 ms           # before a job starts
"""


class TorusTemplate(Template):
    """Servers as near to a cube as they can be, joined by optical switches if they are no lines."""

    body = """\
  fabric:
    kind: torus                        # chips on a grid in each server, with a wrap along each axis
    servers: {servers}
    sides: {sides:<27} # chips along x, y and z
    link_bandwidth: 50 GB/s            # one link, one direction
    alpha: 1 us                        # of one step between neighbours
    link_energy: 10 pJ/b
{switches}  # health: {{failed_tiles: [s0.c0]}}
"""

    def numbers(self, *, servers: int, tiles: int, fibers: int) -> dict[str, Any]:
        sides, ports = most_cubic(tiles), max(2 * servers, PORTS)
        return {
            "servers": servers,
            "sides": str([*sides]),
            "switches": SWITCHES.format(ports=ports) if servers > 1 and min(sides) > 1 else "",
        }
