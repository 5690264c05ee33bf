"""Slices of a fixed shape."""

from typing import ClassVar

from costmodel.fabrics import SlicedFabric
from planner.fabrics.plugin import FabricPlugin


class SlicedPlugin(FabricPlugin):
    """Jobs hold boxes of a torus or digits of a SiPAC."""

    schema: ClassVar[type[SlicedFabric]]
