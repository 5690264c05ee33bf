"""SiPAC: hypercubes of photonic switches."""

from costmodel.fabrics import Sipac
from planner.fabrics.slices.plugin import SlicedPlugin


class SipacPlugin(SlicedPlugin):
    """Sub-cubes of digits."""

    schema = Sipac
