"""Rails of optical circuit switches, for a new instance."""

from typing import Any

from planner.fabrics.template import Template

PORTS = 136
"""of a switch, where these suffice"""


class OcsRailTemplate(Template):
    """Switches with two ports for each server, and 136 at least."""

    body = """\
  fabric:
    kind: ocs_rail                     # GPUs on NVLink in each server, GPU i of all servers on rail i
    servers: {servers}
    gpus_per_server: {tiles}
    nvlink_bandwidth: 450 GB/s         # one direction, for each GPU
    nvlink_alpha: 1 us                 # fixed time of a message
    nvlink_energy: 10 pJ/b
    switches: 4                        # optical circuit switches of each rail; a GPU has a port into each
    ports: {ports:<27} # of one switch: at least one for each server
    port_bandwidth: 12.5 GB/s          # one direction: 100 Gb/s for each port
    port_energy: 20 pJ/b
    alpha: 2 us
    reconfiguration: 20 ms             # before a job starts; its circuits stay while it runs
  # health: {{failed_tiles: [s0.g0], failed_switches: [q0#1]}}
"""

    def numbers(self, *, servers: int, tiles: int, fibers: int) -> dict[str, Any]:
        given = super().numbers(servers=servers, tiles=tiles, fibers=fibers)
        return given | {"ports": max(2 * servers, PORTS)}
