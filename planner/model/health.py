"""What has failed of a cluster, by name."""

from pydantic import Field

from costmodel.spec import Spec


class FailedFiber(Spec):
    """One fiber that carries no light."""

    source: str = Field(alias="from")
    """the server that sends, such as s0"""
    destination: str = Field(alias="to")
    """the server that receives"""
    index: int = Field(ge=0)
    """of the fiber in its bundle, from 0"""

    @property
    def name(self) -> str:
        return f"{self.source}>{self.destination}#{self.index}"


class FailedLaser(Spec):
    """One wavelength that a tile cannot send."""

    tile: str
    """such as s1.t5"""
    wavelength: int = Field(ge=0)
    """index from 0"""

    @property
    def name(self) -> str:
        return f"{self.tile}:w{self.wavelength}"


class FailedReceiver(FailedLaser):
    """One wavelength that a tile cannot receive."""

    @property
    def name(self) -> str:
        return f"{self.tile}:rx:w{self.wavelength}"


class Health(Spec):
    """Parts that are down."""

    failed_tiles: tuple[str, ...] = ()
    """devices that run nothing"""
    failed_ports: tuple[str, ...] = ()
    """devices without light or network: they run single-device jobs only"""
    failed_fibers: tuple[FailedFiber, ...] = ()
    """fibers between servers that carry no light"""
    failed_lasers: tuple[FailedLaser, ...] = ()
    """no circuit leaves the tile on this wavelength"""
    failed_receivers: tuple[FailedReceiver, ...] = ()
    """no circuit enters the tile on this wavelength"""
    failed_switches: tuple[str, ...] = ()
    """optical switches that carry no light, such as q2#1 (rail 2), x3 (axis x) or s0.q3 (rail 3 of a pooled rack)"""
    failed_memory_units: tuple[str, ...] = ()
    """units of memory trays, such as s0.m2.u5"""
    failed_tray_ports: tuple[str, ...] = ()
    """ports of memory trays without light, such as s0.m2.q3#0"""
    failed_uplinks: tuple[str, ...] = ()
    """such as s0.q9#1, of pooled racks"""
    failed_memory_nodes: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """memory nodes between devices that share them, such as s0.n1: what rings send still passes them"""
    failed_upper: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """switches or fibers between racks without light, such as u3 or r0>r1#2"""
