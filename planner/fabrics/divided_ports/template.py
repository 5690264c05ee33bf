"""Accelerators that divide optical ports, for a new instance."""

from typing import Any

from planner.fabrics.template import Template

TILES_OF_AN_APPLIANCE = 8


class DividedPortsTemplate(Template):
    """An appliance of memory for each 8 accelerators of a server."""

    body = """\
  fabric:
    kind: divided_ports                # accelerators divide optical ports between memory and the network
    servers: {servers}
    gpus_per_server: {tiles}
    nvlink_bandwidth: 450 GB/s         # one direction, for each accelerator, beside its optical ports
    nvlink_alpha: 1 us                 # fixed time of a message
    nvlink_energy: 50 pJ/b
    network_bandwidth: 50 GB/s         # one direction, for each accelerator
    network_alpha: 5 us
    network_energy: 165 pJ/b
    # or modules of HBM of each accelerator alone: {{kind: optical_modules, part: optical-hbm-a100}}
    memory: {{kind: appliances, part: photonic-fabric-appliance, per_server: {appliances}, ports: 4, hit: 0.9}}
    port_energy: 5 pJ/b                # of a port that serves the network
  # health: {{failed_tiles: [s0.g0], failed_ports: [s0.g1]}}
"""

    def numbers(self, *, servers: int, tiles: int, fibers: int) -> dict[str, Any]:
        given = super().numbers(servers=servers, tiles=tiles, fibers=fibers)
        return given | {"appliances": -(-tiles // TILES_OF_AN_APPLIANCE)}
