"""Pooled memory over photonic I/O."""

from costmodel.fabrics import Sipam
from planner.fabrics.plugin import FabricPlugin


class SipamPlugin(FabricPlugin):
    """Memory units, ports of trays, rails and uplinks that jobs hold beside their accelerators."""

    schema = Sipam
