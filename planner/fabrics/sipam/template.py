"""Accelerators with pooled memory, for a new instance."""

from typing import Any

from planner.fabrics.template import Template

TRAYS = 4
"""memory trays of a server"""
UNITS = 6
"""memory units in all of them for each accelerator"""


class SipamTemplate(Template):
    """As many ports of trays on each rail as accelerators, and a quarter as many uplinks."""

    body = """\
  fabric:
    kind: sipam                        # accelerators divide their optical I/Os between pooled memory and the network
    servers: {servers}
    accelerators_per_server: {tiles}
    shoreline: photonic-shoreline      # I/Os of each accelerator: 12 of 2 TB/s; from the catalog, or inline
    memory_unit: memory-unit           # 16 GB at 600 GB/s behind light, read by one accelerator at a time
    trays_per_server: {trays}
    units_per_tray: {units:<18} # {each} for each accelerator in all trays
    tray_ports: {tray_ports:<22} # of a tray, on each rail that reaches memory
    spine_rails: 4                     # of the 12 rails, one for each I/O; the other 8 reach memory
    uplinks: {uplinks:<25} # fibers of a server to the other servers, on each spine rail
    switch_ports: {ports:<20} # of each optical switch
    alpha: 0.7 us
    reconfiguration: 25 us             # once before a job starts
    energy: 2 pJ/b
    # racks: 4                         # and what joins them:
    # upper: {{kind: packets, bandwidth: 50 GB/s, oversubscription: 2, alpha: 5 us, energy: 30 pJ/b}}
  # health: {{failed_tiles: [s0.a0], failed_memory_units: [s0.m0.u0], failed_switches: [s0.q0]}}
"""

    def numbers(self, *, servers: int, tiles: int, fibers: int) -> dict[str, Any]:
        tray_ports, uplinks = -(-tiles // TRAYS), -(-tiles // 4)
        return {
            "servers": servers,
            "tiles": tiles,
            "trays": TRAYS,
            "units": -(-UNITS * tiles // TRAYS),
            "each": UNITS,
            "tray_ports": tray_ports,
            "uplinks": uplinks,
            "ports": max(64, tiles + TRAYS * tray_ports, servers * uplinks),
        }
