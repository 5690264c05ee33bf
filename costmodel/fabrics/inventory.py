"""The parts of a fabric by kind: how many there are, what they are called, and under which prices they count."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

INDEX = r"(?:0|[1-9]\d*)"
PriceClass = Literal["accelerator", "electrical_port", "optical_port", "optical_switch", "memory_unit"]
"""what readers give prices of"""
PRICE_CLASSES: tuple[PriceClass, ...] = get_args(PriceClass)


@dataclass(frozen=True)
class Parts:
    """All parts of one kind."""

    kind: str
    """`tile`, `port`, `fiber`, `laser`, `receiver`, `switch`, `memory unit`, `tray port`, `uplink` and `rack link` can
    be recorded as failed; others are counted and priced alone"""
    count: int
    names: Callable[[], Iterable[str]]
    parse: Callable[[str], tuple[int, ...]]
    """numbers of a part, such as (server, slot); ValueError where there is none of this name"""
    prices: Mapping[PriceClass, int]
    """things of each class that all these parts are together; 0 where their price is in that of other parts"""

    def of_each(self, kind: str, mark: str, number: int, prices: Mapping[PriceClass, int]) -> "Parts":
        """So many parts of each of these, named by the owner, a mark such as ".m" or ":w", and a number."""

        def names() -> Iterator[str]:
            return (f"{owner}{mark}{index}" for owner in self.names() for index in range(number))

        def parse(name: str) -> tuple[int, ...]:
            head, _, index = name.rpartition(mark)
            owner = self.parse(head)
            if not re.fullmatch(INDEX, index) or int(index) >= number:
                raise ValueError(f"no {kind} '{name}'; {head} has {number} of them, counted from 0")
            return *owner, int(index)

        return Parts(kind, self.count * number, names, parse, prices)


Inventory = Mapping[str, Parts]
"""parts by kind"""


def priced(inventory: Inventory) -> dict[PriceClass, int]:
    """Things of each class of price in all parts, those that do not occur left out."""
    found: dict[PriceClass, int] = {}
    for parts in inventory.values():
        for price, number in parts.prices.items():
            if number:
                found[price] = found.get(price, 0) + number
    return found


def before_port(name: str) -> str:
    """Of s0.g1:port the device; ValueError for other names."""
    device, mark, rest = name.partition(":port")
    if not mark or rest:
        raise ValueError(f"no port '{name}'; ports have names such as {device or 's0.g0'}:port")
    return device
