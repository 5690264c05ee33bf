"""Wavelengths on fibers between tiles."""

from costmodel.fabrics import Lightpath
from planner.fabrics.plugin import FabricPlugin


class LightpathPlugin(FabricPlugin):
    """Circuits of light: routes over fibers, wavelengths, lasers and losses."""

    schema = Lightpath
