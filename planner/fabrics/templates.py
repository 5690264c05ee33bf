"""Commented fabrics of new instances."""

from typing import Literal

from planner.model.errors import InputError
from planner.slices.torus_boxes import most_cubic

FabricKind = Literal["lightpath", "fat_tree", "ocs_rail", "torus", "sipac", "sipam", "divided_ports", "memory_ring"]
TRAYS = 4
"""memory trays of a new server with pooled memory"""
UNITS = 6
"""memory units there for each accelerator"""

LIGHTPATH = """\
  fabric:
    kind: lightpath                    # servers with tiles on a photonic wafer, joined by fibers
    servers: {servers}
    tiles_per_server: {tiles:<16} # at most 32
    wavelengths_per_tile: 16
    wavelength_bandwidth: 18.75 GB/s   # one direction; 16 of them make 300 GB/s for each tile
    max_peers: 4                       # tiles that a tile sends to, and receives from, at the same time
    waveguides: dedicated              # or shared: light inside a server may collide
    fibers: {fibers:<26} # for each ordered pair of servers; or [{{from: s0, to: s1, count: 2}}]
    wavelengths_per_fiber: 16
    alpha: 0.7 us                      # fixed time of a message
    reconfiguration: 3.7 us            # time to switch circuits
    energy: 5 pJ/b
    # transit: 1                       # third servers that a circuit may cross
    # loss_per_tile: 0.25 dB           # for each tile boundary that light crosses
    # loss_budget: 12 dB
  # health: {{failed_tiles: [s0.t0], failed_fibers: [{{from: s0, to: s1, index: 0}}]}}
"""
FAT_TREE = """\
  fabric:
    kind: fat_tree                     # GPUs on NVLink in each server, servers on InfiniBand
    servers: {servers}
    gpus_per_server: {tiles}
    nvlink_bandwidth: 450 GB/s         # one direction, for each GPU
    nvlink_alpha: 1 us                 # fixed time of a message
    nvlink_energy: 50 pJ/b
    network_bandwidth: 50 GB/s         # one direction: 400 Gb/s for each GPU
    network_alpha: 5 us
    network_energy: 165 pJ/b
  # health: {{failed_tiles: [s0.g0]}}
"""
OCS_RAIL = """\
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
TORUS = """\
  fabric:
    kind: torus                        # chips on a grid in each server, with a wrap along each axis
    servers: {servers}
    sides: {sides:<27} # chips along x, y and z
    link_bandwidth: 50 GB/s            # one link, one direction
    alpha: 1 us                        # of one step between neighbours
    link_energy: 10 pJ/b
{switches}  # health: {{failed_tiles: [s0.c0]}}
"""
SWITCHES = """\
    switches:                          # join servers to larger boxes; without them every server is on its own
      ports: {ports:<25} # of one switch: two for each server
      energy: 20 pJ/b                  # from server to server
      reconfiguration: 20 ms           # before a job starts
"""
SIPAC = """\
  fabric:
    kind: sipac                        # each accelerator has a port into a switch for each of its digits
    servers: {servers}
    radix: {radix:<27} # accelerators that a switch joins
    digits: {digits:<26} # radix ^ digits accelerators in each server; jobs take powers of the radix
    bandwidth: 300 GB/s                # of all ports of an accelerator, one direction
    alpha: 0.7 us
    energy: 5 pJ/b
  # health: {{failed_tiles: [s0.a0]}}
"""
SIPAM = """\
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
  # health: {{failed_tiles: [s0.a0], failed_memory_units: [s0.m0.u0], failed_switches: [s0.q0]}}
"""
DIVIDED_PORTS = """\
  fabric:
    kind: divided_ports                # accelerators divide optical ports between memory and the network
    servers: {servers}
    gpus_per_server: {tiles}
    nvlink_bandwidth: 450 GB/s         # one direction, for each accelerator, beside its optical ports
    nvlink_alpha: 1 us                 # fixed time of a message
    nvlink_energy: 50 pJ/b
    network_bandwidth: 50 GB/s         # one direction: 400 Gb/s for each accelerator
    network_alpha: 5 us
    network_energy: 165 pJ/b
    # or modules of HBM of each accelerator alone: {{kind: optical_modules, part: optical-hbm-a100}}
    memory: {{kind: appliances, part: photonic-fabric-appliance, per_server: {appliances}, ports: 4, hit: 0.9}}
    port_energy: 5 pJ/b                # of a port that serves the network
  # health: {{failed_tiles: [s0.g0], failed_ports: [s0.g1]}}
"""
MEMORY_RING = """\
  fabric:
    kind: memory_ring                  # nodes whose devices offload to memory nodes beside them, over rings of links
    servers: {servers}
    node:
      devices: {tiles:<23} # of one node, as many memory nodes between them
      links: 6                         # of a device
      link_bandwidth: 25 GB/s          # one direction
      alpha: 1 us
      arrangement: ring
      node: {{dimm: ddr4-2400-lrdimm-128gb, dimms: 10, groups: 2, dimm_bandwidth: 25.6 GB/s}}
    link_energy: 10 pJ/b
    memory_latency: 1 us
    memory_energy: 20 pJ/b
    network_bandwidth: 50 GB/s         # one direction, for each device
    network_alpha: 5 us
    network_energy: 165 pJ/b
  # training jobs that offload gain from it: workload: {{..., offload: [none, activations, optimizer]}}
  # health: {{failed_tiles: [s0.d0]}}
"""
TEMPLATES = {
    "lightpath": LIGHTPATH,
    "fat_tree": FAT_TREE,
    "ocs_rail": OCS_RAIL,
    "torus": TORUS,
    "sipac": SIPAC,
    "sipam": SIPAM,
    "divided_ports": DIVIDED_PORTS,
    "memory_ring": MEMORY_RING,
}


def fabric_text(kind: FabricKind, *, servers: int, tiles: int, fibers: int) -> str:
    """A fabric of so many devices in each server, as near to a cube as they can be."""
    if kind == "sipac" and tiles == 1:
        raise InputError("the new instance", "tiles", "accelerators of a sipac have peers; give 2 or more in a server")
    if kind == "sipam":
        return _sipam_text(servers, tiles)
    sides, ports = most_cubic(tiles), max(2 * servers, 136)
    radix, digits = digits_of(tiles) if tiles > 1 else (1, 0)
    return TEMPLATES[kind].format(
        servers=servers,
        tiles=tiles,
        fibers=fibers,
        ports=ports,
        sides=str([*sides]),
        switches=SWITCHES.format(ports=ports) if servers > 1 and min(sides) > 1 else "",
        radix=radix,
        digits=digits,
        appliances=-(-tiles // 8),
    )


def _sipam_text(servers: int, tiles: int) -> str:
    """As many ports of trays on each rail as accelerators, and a quarter as many uplinks."""
    tray_ports, uplinks = -(-tiles // TRAYS), -(-tiles // 4)
    return SIPAM.format(
        servers=servers,
        tiles=tiles,
        trays=TRAYS,
        units=-(-UNITS * tiles // TRAYS),
        each=UNITS,
        tray_ports=tray_ports,
        uplinks=uplinks,
        ports=max(64, tiles + TRAYS * tray_ports, servers * uplinks),
    )


def digits_of(number: int) -> tuple[int, int]:
    """Radix and digits with radix ^ digits = number: two digits or more where it can be, then a radix of 4 or more."""
    powers = [(r, d) for r in range(2, number + 1) for d in range(1, 13) if r**d == number]
    return min(powers, key=lambda power: (power[1] == 1, power[0] < 4, power[0]))
