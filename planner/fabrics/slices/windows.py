"""Racks of slices as problems of their own: pods of cubes with the optical switches between these."""

from collections.abc import Mapping, Sequence

from costmodel.fabrics import FabricBase, Torus
from planner.fabrics.windows import RackWindows

AXES = 3


class SliceWindows(RackWindows):
    """Slices hold cubes and circuits of one rack."""

    def switches(self, fabric: FabricBase, window: FabricBase, racks: Sequence[int]) -> Mapping[str, str]:
        """Those of each axis of each rack."""
        if not isinstance(fabric, Torus) or not isinstance(window, Torus):
            return {}
        number = {rack: place for place, rack in enumerate(racks)}
        switches = (fabric.parse_switch(name) for name in fabric.switch_names)
        return {
            fabric.switch_name(axis, i): window.switch_name(AXES * number[axis // AXES] + axis % AXES, i)
            for axis, i in switches
            if axis // AXES in number
        }
