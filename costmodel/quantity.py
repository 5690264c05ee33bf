"""Physical quantities in files: a number in SI or a string with its unit, of a size that hardware may have."""

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

_PREFIXES = {
    "": 1.0, "p": 1e-12, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3,
    "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15,
    "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40,
}  # fmt: skip
_NUMBER = re.compile(r"\s*([-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S.*?)?\s*$")
_SI_PREFIXES = {-15: "f", -12: "p", -9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_MOST_CHARACTERS = 60
"""of a quantity; sane ones have fewer than twenty"""


def _units(*stems: tuple[str, float]) -> dict[str, float]:
    """All prefixed spellings of units, e.g. {"ns": 1e-9, "us": 1e-6, ...}."""
    return {prefix + stem: scale * factor for stem, scale in stems for prefix, factor in _PREFIXES.items()}


TIME = _units(("s", 1.0)) | {"min": 60.0, "h": 3600.0, "d": 86400.0}
SIZE = _units(("B", 1.0), ("b", 0.125))
RATE = _units(("B/s", 1.0), ("b/s", 0.125), ("bps", 0.125))
FLOP_RATE = _units(("FLOP/s", 1.0), ("FLOPS", 1.0))
ENERGY_PER_BYTE = _units(("J/B", 1.0), ("J/b", 8.0), ("J/bit", 8.0))
ENERGY_PER_FLOP = {prefix + "J/FLOP": factor for prefix, factor in _PREFIXES.items()}
POWER = {prefix + "W": factor for prefix, factor in _PREFIXES.items()}
RATIO_DB = {"dB": 1.0}
FREQUENCY = {prefix + "Hz": factor for prefix, factor in _PREFIXES.items()}


def with_prefix(si: float, unit: str) -> str:
    """A value with its SI unit and a prefix: 700 ns."""
    power = min(max(3 * math.floor(math.log10(abs(si)) / 3 + 1e-12), -15), 18) if si else 0
    return f"{si / 10.0**power:.6g} {_SI_PREFIXES[power]}{unit}"


@dataclass(frozen=True, eq=False)
class Quantity:
    """A physical quantity as files give it: a number in SI, or a string with a unit. It annotates a float field.

    In a file, a value that is not 0 lies between `least` and `most` in SI, the widest range that hardware may have:
    what lies outside is a slip of the unit.
    """

    units: Mapping[str, float]
    """factor to SI of each spelling; the first is the SI unit"""
    example: str
    least: float
    most: float

    @property
    def si_unit(self) -> str:
        return next(iter(self.units))

    def parse(self, value: object) -> float:
        """SI value of a number (already SI) or of a string such as "3.7 us".

        Raises ValueError that says what a right value looks like.
        """
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError(f"expected a number in SI or a string with its unit such as '{self.example}'")
        if isinstance(value, str) and len(value) > _MOST_CHARACTERS:
            raise ValueError(f"a text of {len(value)} characters; write it like '{self.example}'")
        number, unit = self._split(value)
        si = number * self.units.get(unit, 1.0)
        if not math.isfinite(si):
            raise ValueError("is not a finite number" if unit == "" else f"'{value}' is not a finite number")
        return si

    def shown(self, si: float) -> str:
        """A value with its SI unit and a prefix: 700 ns."""
        return with_prefix(si, self.si_unit)

    def _split(self, value: int | float | str) -> tuple[float, str]:
        if not isinstance(value, str):
            return (float(value) if abs(value) < sys.float_info.max else math.inf), ""
        match = _NUMBER.match(value)
        if match is None:
            raise ValueError(f"cannot read '{value}'; write it like '{self.example}'")
        unit = match.group(2) or ""
        if unit not in self.units and unit != "":
            raise ValueError(f"unknown unit '{unit}' in '{value}'; write it like '{self.example}'")
        return float(match.group(1)), unit

    def impossible(self, given: int | float | str, si: float) -> str | None:
        """What is wrong with the size of a value that was read, given as such; None where hardware may have it."""
        if si <= 0 or self.least <= si <= self.most:
            return None
        side, limit = ("below", self.least) if si < self.least else ("above", self.most)
        extreme = "least" if side == "below" else "most"
        said = f"{side} {self.shown(limit)}, the {extreme} that hardware may have"
        number, unit = self._split(given)
        if unit:
            return f"{self.shown(si)} is {said}; check number and unit, such as '{self.example}'"
        usual = self.example.partition(" ")[2]
        is_meant = self.least <= number * self.units[usual] <= self.most
        remedy = f"{number:g} {usual}" if is_meant else self.example
        return f"{number:g} without a unit is {self.shown(si)}, {said}; write the unit, such as '{remedy}'"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.parse, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {
            "anyOf": [
                {"type": "number", "description": f"in {self.si_unit}", "maximum": self.most},
                {"type": "string", "description": f"with its unit, such as '{self.example}'"},
            ],
            "examples": [self.example],
            "description": f"a number in SI units, or a string with its unit such as '{self.example}'; 0, or "
            f"{self.shown(self.least)} to {self.shown(self.most)}",
        }
