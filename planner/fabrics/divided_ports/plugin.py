"""Accelerators that divide optical ports between memory and network."""

from costmodel.fabrics import DividedPorts
from planner.fabrics.plugin import FabricPlugin


class DividedPortsPlugin(FabricPlugin):
    """Packets between servers; modules of memory behind optical ports, which a server may share."""

    schema = DividedPorts
