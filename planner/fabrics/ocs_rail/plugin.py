"""Rails of optical circuit switches."""

from costmodel.fabrics import OcsRail
from planner.fabrics.plugin import FabricPlugin


class OcsRailPlugin(FabricPlugin):
    """One block a server, all on the same rails, circuits through the switches of each rail."""

    schema = OcsRail
