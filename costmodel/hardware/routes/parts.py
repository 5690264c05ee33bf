"""Parts that a bit passes on its way, as data, and the routes that they make.

Energy per bit of a route = source adapter + each switch + destination adapter (Ding and Diep, section 4.2).
"""

from functools import cache
from typing import Literal, Self

from pydantic import Field, model_validator

from costmodel.catalog import documents, unknown_name
from costmodel.spec import JoulesPerByte, Spec

Scenario = Literal["tray", "rack", "inter_rack", "tray_memory", "datastore"]
"""between accelerators of a tray, of a rack, of two racks; offload to the tray's memory, to a data store"""


class Part(Spec):
    """One kind of part; a `link` joins both ends by itself."""

    role: Literal["adapter", "switch", "transceiver", "laser", "link"]
    """what it does on the way"""
    energy_j_per_byte: JoulesPerByte
    """energy of passing it once; a laser's is its power over the rate that it carries"""
    source: str = Field(min_length=1)
    """where its figures come from"""


class Route(Spec):
    """What lies between two ends, by names of parts."""

    ends: tuple[str, ...] = Field(min_length=1)
    """the adapters, transceivers and lasers at both ends, each as often as it is passed; or one link"""
    switch: str | None = None
    """the part that is passed `switches` times"""
    switches: tuple[int, int] = (0, 0)
    """fewest and most switches on the way"""

    @model_validator(mode="after")
    def _switches_are_named(self) -> Self:
        least, most = self.switches
        if not 0 <= least <= most:
            raise ValueError(f"switches: {self.switches} is no interval; write [fewest, most]")
        if most and self.switch is None:
            raise ValueError("switch: is missing on a route with switches; name the part")
        return self


class RouteParts(Spec):
    """A set of parts with a route for each scenario."""

    kind: Literal["route_parts"] = "route_parts"
    name: str = Field(min_length=1)
    """of the set"""
    parts: dict[str, Part] = Field(min_length=1)
    """by name"""
    routes: dict[Scenario, Route] = Field(min_length=1)
    """one for each scenario"""
    source: str = Field(min_length=1)
    """where the figures come from"""

    @model_validator(mode="after")
    def _parts_are_known(self) -> Self:
        for scenario, route in self.routes.items():
            for name in (*route.ends, *([route.switch] if route.switch else [])):
                if name not in self.parts:
                    raise unknown_name(f"part of route '{scenario}'", name, self.parts)
        return self

    def j_per_byte(self, scenario: Scenario, switches: int | None = None) -> float:
        """Energy of a byte on a route with so many switches; the fewest unless given."""
        if scenario not in self.routes:
            raise unknown_name(f"route of '{self.name}'", scenario, self.routes)
        route = self.routes[scenario]
        least, most = route.switches
        count = least if switches is None else switches
        if not least <= count <= most:
            raise ValueError(f"switches: {count} on route '{scenario}' of '{self.name}'; it has {least} to {most}")
        ends = sum(self.parts[name].energy_j_per_byte for name in route.ends)
        return ends + (count * self.parts[route.switch].energy_j_per_byte if route.switch else 0.0)


def route_parts_names() -> tuple[str, ...]:
    """Names of the sets in the catalog, sorted."""
    return tuple(name for name, content in documents().items() if content.get("kind") == "route_parts")


@cache
def load_route_parts(name: str) -> RouteParts:
    """A set of the catalog by name; ValueError names the nearest ones where it is unknown."""
    if name not in route_parts_names():
        raise unknown_name("set of route parts", name, route_parts_names())
    return RouteParts.model_validate(documents()[name])
