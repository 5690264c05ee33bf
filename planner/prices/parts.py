"""Capital of a cluster by its parts: numbers of parts follow from the fabric, prices are the reader's."""

from typing import Annotated

from pydantic import Field

from costmodel.fabrics import FabricBase, priced
from costmodel.spec import Spec
from planner.model.errors import InputError

Price = Annotated[float, Field(ge=0)]


class PartPrices(Spec):
    """Price of one part of each kind; a kind that is not given must not occur."""

    accelerator: Price
    """with its share of the server, and of wires inside it: NVLink, links of a torus or inside its cube, rings"""
    electrical_port: Price | None = None
    """port of an accelerator, or of a rack, into a network of packets, with its share of cables and switches there"""
    optical_port: Price | None = None
    """transmitter and receiver of an accelerator, memory tray, module, appliance or server, with its fiber, wherever it
    leads: light inside a server counts, too"""
    optical_switch: Price | None = None
    """optical circuit switch, or the wavelength router of a sipac server"""
    memory_unit: Price | None = None
    """of a tray, where memory is pooled; a module behind light, or of an appliance; a DIMM of a memory node"""

    def capital(self, fabric: FabricBase, place: str) -> float:
        """Price of all parts; InputError for one without a price."""
        total = 0.0
        for kind, number in priced(fabric.inventory()).items():
            price: float | None = getattr(self, kind)
            if price is None:
                raise InputError(place, f"parts.{kind}", f"has no price, and there are {number:,} of them; add one")
            total += number * price
        return total
