"""Allocators as they stand in a file."""

from typing import Annotated, Literal

from pydantic import Field

from costmodel.spec import Spec
from planner.slices.allocator import MaskAllocator
from planner.slices.any_chip import AnyChip
from planner.slices.digit_subcubes import DigitSubcubes, Order
from planner.slices.optical_cubes import OpticalCubes
from planner.slices.rings_over_servers import RingsOverServers
from planner.slices.torus_boxes import TorusBoxes
from planner.slices.whole_servers import WholeServers

Count = Annotated[int, Field(ge=1, le=4096)]


class AnyChipScheme(Spec):
    """Any free accelerators."""

    kind: Literal["any_chip"]
    accelerators: Count

    def allocator(self) -> MaskAllocator:
        return AnyChip(self.accelerators)


class TorusScheme(Spec):
    """Boxes of one torus."""

    kind: Literal["torus_boxes"]
    sides: tuple[Count, Count, Count]
    wrap: bool = True

    def allocator(self) -> MaskAllocator:
        return TorusBoxes(self.sides, wrap=self.wrap)


class CubesScheme(Spec):
    """Boxes inside one cube, or whole cubes."""

    kind: Literal["optical_cubes"]
    cubes: Count
    side: Annotated[int, Field(ge=1, le=8)] = 4

    def allocator(self) -> MaskAllocator:
        return OpticalCubes(self.cubes, self.side)


class SubcubesScheme(Spec):
    """Digit subcubes of BCube (any radix) and SiPAC(radix, digits)."""

    kind: Literal["digit_subcubes"]
    radix: Annotated[int, Field(ge=2, le=64)]
    digits: Annotated[int, Field(ge=1, le=12)]
    order: Order = "near"
    """which digits a slice is tried along first: the least (`near`) or the most significant ones (`far`)"""

    def allocator(self) -> MaskAllocator:
        return DigitSubcubes(self.radix, self.digits, order=self.order)


class ServersScheme(Spec):
    """Whole servers and a packed remainder."""

    kind: Literal["whole_servers"]
    servers: Count
    per_server: Count

    def allocator(self) -> MaskAllocator:
        return WholeServers(self.servers, self.per_server)


class RingsScheme(Spec):
    """Any tiles that a ring joins."""

    kind: Literal["rings_over_servers"]
    servers: Count
    per_server: Count
    fibers: Annotated[int, Field(ge=0)]
    """for each ordered pair of servers"""

    def allocator(self) -> MaskAllocator:
        return RingsOverServers(self.servers, self.per_server, self.fibers)


Scheme = Annotated[
    AnyChipScheme | TorusScheme | CubesScheme | SubcubesScheme | ServersScheme | RingsScheme,
    Field(discriminator="kind"),
]
