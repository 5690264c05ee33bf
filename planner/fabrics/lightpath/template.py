"""Servers with tiles on a photonic wafer, for a new instance."""

from planner.fabrics.template import Template


class LightpathTemplate(Template):
    """Dedicated waveguides, no losses."""

    objectives = ("value", "moves", "energy", "fragmentation")
    body = """\
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
    # racks: 4                         # and what joins them:
    # upper: {{kind: packets, bandwidth: 50 GB/s, oversubscription: 2, alpha: 5 us, energy: 30 pJ/b}}
    # loss_per_tile: 0.25 dB           # for each tile boundary that light crosses
    # loss_budget: 12 dB
  # health: {{failed_tiles: [s0.t0], failed_fibers: [{{from: s0, to: s1, index: 0}}]}}
"""
