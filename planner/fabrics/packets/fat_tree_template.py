"""A fat tree of servers with NVLink, for a new instance."""

from planner.fabrics.template import Template


class FatTreeTemplate(Template):
    """Rates of NVLink 4 and InfiniBand NDR."""

    objectives = ("value", "moves", "energy", "fragmentation")
    body = """\
  fabric:
    kind: fat_tree                     # GPUs on NVLink in each server, servers on InfiniBand
    servers: {servers}
    gpus_per_server: {tiles}
    nvlink_bandwidth: 450 GB/s         # one direction, for each GPU
    nvlink_alpha: 1 us                 # fixed time of a message
    nvlink_energy: 50 pJ/b
    network_bandwidth: 50 GB/s         # one direction, for each GPU
    network_alpha: 5 us
    network_energy: 165 pJ/b
  # health: {{failed_tiles: [s0.g0]}}
"""
