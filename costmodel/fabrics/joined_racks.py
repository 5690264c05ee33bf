"""Fabrics whose racks may be joined by an upper layer, so that a job spans several of them in equal parts."""

from typing import Self

from pydantic import Field, model_validator

from costmodel.fabrics.across_racks import upper_links
from costmodel.fabrics.base import FabricBase
from costmodel.fabrics.inventory import Inventory, Parts
from costmodel.fabrics.upper import Upper, UpperLayer


class JoinedRacks(FabricBase):
    """Racks alone, unless `upper` joins them."""

    upper: Upper | None = Field(default=None, exclude_if=lambda upper: upper is None)
    """joins racks, so that a job may lie in several, with equal parts of its replicas"""

    @model_validator(mode="after")
    def _joins_racks(self) -> Self:
        if self.upper is not None:
            if self.racks == 1:
                raise ValueError("upper: there is one rack, and nothing to join; give racks, or leave it out")
            self.upper.require_racks(self.racks)
        return self

    @property
    def stage_s(self) -> float:
        """Of the switches between racks alone."""
        return 0.0 if self.upper is None else self.upper.stage_s

    @property
    def upper_layer(self) -> UpperLayer | None:
        return self.upper

    def inventory(self) -> Inventory:
        parts = super().inventory()
        return parts if self.upper is None else dict(parts) | {"rack link": self._rack_links(self.upper)}

    def _rack_links(self, upper: UpperLayer) -> Parts:
        """Switches or fibers between racks; none where packets are switched, whose uplinks are priced alone."""
        by_part = upper_links(self)
        names = list(dict.fromkeys(name for links in by_part.values() for name in links if name))

        def parse(name: str) -> tuple[int, ...]:
            if name not in names:
                raise ValueError(f"no switch or fiber '{name}' between racks")
            return (names.index(name),)

        number = sum(sum(links.values()) for links in by_part.values())
        return Parts("rack link", len(names), lambda: names, parse, upper.prices(number, len(names)))
