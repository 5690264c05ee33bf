"""Nodes with memory nodes beside their devices, for a new instance."""

from planner.fabrics.template import Template


class MemoryRingTemplate(Template):
    """The node of Kwon and Rhu, MICRO 2018."""

    body = """\
  fabric:
    kind: memory_ring                  # accelerators that offload to memory nodes beside them, over rings of links
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
  # health: {{failed_tiles: [s0.d0]}}  # with shared_nodes: true also failed_memory_nodes: [s0.n1]
"""
