"""The layer above racks, over which a job may span several: packets, optical circuit switches, or fibers.

A job that spans R racks has equal parts in them, and its all-reduce along data is hierarchical: a reduce-scatter in
each rack, an all-reduce of what each rank then holds across the racks, an all-gather in each rack. What leads from
the accelerators of a rack to its links is neither planned nor short.
"""

import re
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from itertools import permutations
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from costmodel.fabrics.fibers import NumFibers
from costmodel.fabrics.group_plans import divisors_down
from costmodel.fabrics.inventory import INDEX, PriceClass
from costmodel.spec import BytesPerSecond, Decibels, JoulesPerByte, Latency, NumParts, Spec, SwitchingTime

UpperPart = tuple[int, ...]
"""Where links are counted: a rack, (r,), or an ordered pair of racks, (r, q)."""


class UpperLayer(Spec):
    """What all kinds have in common. Links are alike; a job holds as many of each part that it uses."""

    alpha_s: Latency
    """of a message from rack to rack"""
    energy_j_per_byte: JoulesPerByte
    """of a byte from rack to rack"""

    @property
    @abstractmethod
    def link_bytes_per_s(self) -> float:
        """One link, one direction."""

    @property
    @abstractmethod
    def link_name(self) -> str:
        """One link, in words."""

    @property
    def stage_s(self) -> float:
        """Time to set circuits; 0 where nothing is switched."""
        return 0.0

    @abstractmethod
    def parts(self, racks: Sequence[int]) -> list[UpperPart]:
        """Parts of which a job on these racks, ascending, holds links."""

    def num_parts(self, racks: int) -> int:
        """Parts of which a job on so many racks holds links: here its racks."""
        return racks

    @abstractmethod
    def links_by_name(self, part: UpperPart, racks: int, rack_devices: int) -> dict[str, int]:
        """Links of a part over so many racks of so many accelerators, by the name of the switch or fiber that they go
        through; the name is empty for packets, of which no single part fails."""

    @abstractmethod
    def most_links(self, rack_devices: int) -> int:
        """Of the part with the most links, over racks of so many accelerators, all that works."""

    @abstractmethod
    def joined(self, racks: int) -> list[tuple[int, int]]:
        """Circuits of a job by place of its racks, each as often as it holds links; none where packets are switched."""

    @abstractmethod
    def prices(self, links: int, names: int) -> dict[PriceClass, int]:
        """What so many links through so many switches or fibers are, by class of price."""

    def menu(self, most: int, devices: int) -> tuple[int, ...]:
        """Numbers of links that a job with so many accelerators in each rack may hold, of `most` at each part."""
        return divisors_down(most) if most else ()

    def all_reduce(self, racks: int, groups: int, links: int) -> tuple[float, float]:
        """Seconds of a message, fixed and per byte, of `groups` groups at once in each rack: as a ring of racks."""
        rounds = 2 * (racks - 1)
        return rounds * self.alpha_s, rounds / racks * groups / (links * self.link_bytes_per_s)

    def require_racks(self, racks: int) -> None:
        """ValueError where so many racks cannot be joined so."""


class UpperPackets(UpperLayer):
    """A switch in each rack with an uplink to every accelerator, and fewer by `oversubscription` to the spine, which
    blocks nothing."""

    kind: Literal["packets"] = "packets"
    bandwidth_bytes_per_s: BytesPerSecond
    """of an uplink, one direction"""
    oversubscription: float = Field(default=1.0, ge=1.0, le=1e6)
    """accelerators of a rack over the uplinks that leave it"""

    @property
    def link_bytes_per_s(self) -> float:
        return self.bandwidth_bytes_per_s

    @property
    def link_name(self) -> str:
        return "uplink"

    def parts(self, racks: Sequence[int]) -> list[UpperPart]:
        return [(rack,) for rack in racks]

    def links_by_name(self, part: UpperPart, racks: int, rack_devices: int) -> dict[str, int]:
        return {"": self.most_links(rack_devices)}

    def most_links(self, rack_devices: int) -> int:
        return int(rack_devices / self.oversubscription)

    def joined(self, racks: int) -> list[tuple[int, int]]:
        return []

    def prices(self, links: int, names: int) -> dict[PriceClass, int]:
        return {"electrical_port": links}

    def menu(self, most: int, devices: int) -> tuple[int, ...]:
        """No more than the accelerators send by uplinks of their own."""
        return super().menu(min(most, devices), devices)


class UpperSwitches(UpperLayer):
    """Optical circuit switches: each has as many ports of every rack as its radix allows."""

    kind: Literal["switches"] = "switches"
    ports: NumParts
    """of each rack, each in and out"""
    radix: int = Field(ge=2, le=65536)
    """ports of a switch"""
    bandwidth_bytes_per_s: BytesPerSecond
    """of a port, one direction"""
    reconfiguration_s: SwitchingTime
    """time to set circuits, before a job starts"""
    loss_db: Decibels = 0.0
    """of a switch"""
    loss_budget_db: Decibels | None = None
    """most loss of a circuit; absent: no limit"""

    @property
    def link_bytes_per_s(self) -> float:
        return self.bandwidth_bytes_per_s

    @property
    def link_name(self) -> str:
        return "port"

    @property
    def stage_s(self) -> float:
        return self.reconfiguration_s

    def parts(self, racks: Sequence[int]) -> list[UpperPart]:
        return [(rack,) for rack in racks]

    def links_by_name(self, part: UpperPart, racks: int, rack_devices: int) -> dict[str, int]:
        return {switch: len(ports) for switch, ports in self.ports_by_switch(racks).items()}

    def most_links(self, rack_devices: int) -> int:
        return self.ports

    def prices(self, links: int, names: int) -> dict[PriceClass, int]:
        return {"optical_port": links, "optical_switch": names}

    def ports_by_switch(self, racks: int) -> dict[str, range]:
        """Numbers of the ports that each of so many racks has at a switch: as many at all, but fewer at the last."""
        each = min(self.radix // racks, self.ports)
        starts = range(0, self.ports, each)
        return {f"u{n}": range(first, min(first + each, self.ports)) for n, first in enumerate(starts)}

    def joined(self, racks: int) -> list[tuple[int, int]]:
        return [(place, (place + 1) % racks) for place in range(racks)]

    def require_racks(self, racks: int) -> None:
        if self.radix < racks:
            raise ValueError(f"upper.radix: {self.radix} ports join no {racks} racks; give at least {racks}")

    @model_validator(mode="after")
    def _has_light(self) -> Self:
        if self.loss_budget_db is not None and self.loss_db > self.loss_budget_db:
            raise ValueError(
                f"upper.loss: {self.loss_db:g} dB are more than the loss_budget of {self.loss_budget_db:g} dB; "
                "raise the budget or leave the layer out"
            )
        return self


class RackFibers(Spec):
    """Parallel fibers from one rack to another, in this direction only."""

    source: str = Field(alias="from")
    """the rack that sends, such as r0"""
    destination: str = Field(alias="to")
    """the rack that receives"""
    count: NumFibers
    """fibers of the bundle"""
    loss_db: Decibels | None = None
    """of each; that of the layer where absent"""


class UpperFibers(UpperLayer):
    """Fibers from rack to rack: racks of a job send straight to each other, over wavelengths of their own."""

    kind: Literal["fibers"] = "fibers"
    fibers: NumFibers | tuple[RackFibers, ...]
    """number for each ordered pair of racks, or the list of bundles"""
    wavelengths_per_fiber: int = Field(default=16, ge=1, le=128)
    """that a fiber carries"""
    wavelength_bandwidth_bytes_per_s: BytesPerSecond
    """one wavelength, one direction"""
    loss_db: Decibels = 0.0
    """of a fiber"""
    loss_budget_db: Decibels | None = None
    """fibers with a greater loss carry no light"""

    @property
    def link_bytes_per_s(self) -> float:
        return self.wavelength_bandwidth_bytes_per_s

    @property
    def link_name(self) -> str:
        return "wavelength"

    @cached_property
    def bundles(self) -> dict[tuple[int, int], RackFibers]:
        """By ordered pair, where they are listed."""
        if isinstance(self.fibers, int):
            return {}
        found: dict[tuple[int, int], RackFibers] = {}
        for bundle in self.fibers:
            pair = _rack_number(bundle.source), _rack_number(bundle.destination)
            if pair[0] == pair[1] or pair in found:
                problem = "must join two different racks" if pair[0] == pair[1] else "are given twice"
                raise ValueError(f"upper.fibers: those from {bundle.source} to {bundle.destination} {problem}")
            found[pair] = bundle
        return found

    def num_fibers(self, source: int, destination: int) -> int:
        """Fibers from one rack to another, those with too much loss left out."""
        if source == destination:
            return 0
        bundle = self.bundles.get((source, destination))
        own = self.loss_db if bundle is None or bundle.loss_db is None else bundle.loss_db
        if self.loss_budget_db is not None and own > self.loss_budget_db:
            return 0
        if isinstance(self.fibers, int):
            return self.fibers
        return 0 if bundle is None else bundle.count

    def parts(self, racks: Sequence[int]) -> list[UpperPart]:
        return list(permutations(racks, 2))

    def num_parts(self, racks: int) -> int:
        """Ordered pairs of them."""
        return racks * (racks - 1)

    def links_by_name(self, part: UpperPart, racks: int, rack_devices: int) -> dict[str, int]:
        a, b = part
        return {f"r{a}>r{b}#{i}": self.wavelengths_per_fiber for i in range(self.num_fibers(a, b))}

    def most_links(self, rack_devices: int) -> int:
        return self.wavelengths_per_fiber * max(self.num_fibers(a, b) for a, b in self.bundles or [(0, 1)])

    def joined(self, racks: int) -> list[tuple[int, int]]:
        return list(permutations(range(racks), 2))

    def prices(self, links: int, names: int) -> dict[PriceClass, int]:
        return {"optical_port": links}

    def all_reduce(self, racks: int, groups: int, links: int) -> tuple[float, float]:
        """Each rack sends each other one its part, then the sum of its own: two rounds."""
        return 2 * self.alpha_s, 2 / racks * groups / (links * self.link_bytes_per_s)

    def require_racks(self, racks: int) -> None:
        for pair in self.bundles:
            if max(pair) >= racks:
                raise ValueError(f"upper.fibers: there is no rack r{max(pair)}; racks are r0 to r{racks - 1}")


def _rack_number(name: str) -> int:
    match = re.fullmatch(f"r({INDEX})", name)
    if match is None:
        raise ValueError(f"upper.fibers: no rack '{name}'; racks have names such as r0")
    return int(match[1])


Upper = Annotated[UpperPackets | UpperSwitches | UpperFibers, Field(discriminator="kind")]
