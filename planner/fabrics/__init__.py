"""What the planner knows of each kind of fabric: one plug-in a kind, found by `plugin_of`.

No file outside `costmodel/fabrics/` and this folder names the class of a fabric. A fabric of another distribution
enters by the entry point `planner.fabrics`, whose object is an instance of `FabricPlugin`.
"""

from typing import cast

from costmodel.fabrics import FabricBase, outside_fabrics
from planner.fabrics.divided_ports.plugin import DividedPortsPlugin
from planner.fabrics.lightpath.plugin import LightpathPlugin
from planner.fabrics.memory_ring.plugin import MemoryRingPlugin
from planner.fabrics.ocs_rail.plugin import OcsRailPlugin
from planner.fabrics.packets.fat_tree import FatTreePlugin
from planner.fabrics.plugin import FabricPlugin
from planner.fabrics.sipam.plugin import SipamPlugin
from planner.fabrics.slices.sipac import SipacPlugin
from planner.fabrics.slices.torus import TorusPlugin
from planner.model.errors import InputError

_SHIPPED: tuple[FabricPlugin, ...] = (
    LightpathPlugin(),
    FatTreePlugin(),
    OcsRailPlugin(),
    TorusPlugin(),
    SipacPlugin(),
    SipamPlugin(),
    DividedPortsPlugin(),
    MemoryRingPlugin(),
)
_BY_KIND = {plugin.kind: plugin for plugin in _SHIPPED}


def fabrics() -> dict[str, FabricPlugin]:
    """Every kind of fabric, those of other distributions included, by its name in files."""
    return _BY_KIND | _outside()


def plugin_of(fabric: FabricBase) -> FabricPlugin:
    """The plug-in of a fabric."""
    return _BY_KIND[fabric.kind] if fabric.kind in _BY_KIND else _outside()[fabric.kind]


def _outside() -> dict[str, FabricPlugin]:
    """Plug-ins of other distributions."""
    try:
        return cast(dict[str, FabricPlugin], outside_fabrics())
    except ValueError as error:
        raise InputError("fabrics", "", f"{error}; correct or uninstall it") from None
