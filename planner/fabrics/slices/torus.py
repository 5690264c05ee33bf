"""Tori of accelerators."""

from costmodel.fabrics import Torus
from planner.fabrics.slices.plugin import SlicedPlugin


class TorusPlugin(SlicedPlugin):
    """Boxes of a torus, joined by switches between cubes where the fabric has them."""

    schema = Torus
