"""The frozen base of all file types, and field types that accept a number in SI or a string with its unit."""

import math
import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

UNIT_SUFFIXES = (
    "_bytes_per_s", "_flops_per_s", "_j_per_byte", "_j_per_flop", "_bytes", "_db", "_s", "_w",
)  # fmt: skip

_PREFIXES = {
    "": 1.0, "p": 1e-12, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3,
    "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15,
    "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40,
}  # fmt: skip
_NUMBER = re.compile(r"\s*([-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S.*?)?\s*$")


def file_key(field_name: str) -> str:
    """Key of a field in a file: its name without the unit suffix, since the value carries the unit."""
    for suffix in UNIT_SUFFIXES:
        if field_name.endswith(suffix):
            return field_name.removesuffix(suffix)
    return field_name


class Spec(BaseModel):
    """Base of everything that is read from a file: frozen, no unknown fields, finite numbers."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=file_key,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


def _units(*stems: tuple[str, float]) -> dict[str, float]:
    """All prefixed spellings of units, e.g. {"ns": 1e-9, "us": 1e-6, ...}."""
    return {prefix + stem: scale * factor for stem, scale in stems for prefix, factor in _PREFIXES.items()}


_TIME = _units(("s", 1.0)) | {"min": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE = _units(("B", 1.0), ("b", 0.125))
_RATE = _units(("B/s", 1.0), ("b/s", 0.125), ("bps", 0.125))
_FLOP_RATE = _units(("FLOP/s", 1.0), ("FLOPS", 1.0))
_ENERGY_PER_BYTE = _units(("J/B", 1.0), ("J/b", 8.0), ("J/bit", 8.0))
_ENERGY_PER_FLOP = _units(
    ("J/FLOP", 1.0),
)
_POWER = _units(
    ("W", 1.0),
)
_RATIO_DB = {"dB": 1.0}


def parse_quantity(value: object, units: dict[str, float], example: str) -> float:
    """SI value of a number (already SI) or of a string such as "3.7 us".

    Raises ValueError that says what a right value looks like.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"expected a number in SI or a string with its unit such as '{example}'")
    if not isinstance(value, str):
        number = float(value)
    else:
        match = _NUMBER.match(value)
        if match is None:
            raise ValueError(f"cannot read '{value}'; write it like '{example}'")
        unit = match.group(2) or ""
        if unit not in units and unit != "":
            raise ValueError(f"unknown unit '{unit}' in '{value}'; write it like '{example}'")
        number = float(match.group(1)) * units.get(unit, 1.0)
    if not math.isfinite(number):
        raise ValueError(f"'{value}' is not a finite number")
    return number


def _quantity(units: dict[str, float], example: str) -> tuple[BeforeValidator, WithJsonSchema]:
    def parse(value: object) -> float:
        return parse_quantity(value, units, example)

    validator: Callable[[object], float] = parse
    schema: dict[str, Any] = {
        "anyOf": [
            {"type": "number", "description": f"in {next(iter(units))}"},
            {"type": "string", "description": f"with its unit, such as '{example}'"},
        ],
        "examples": [example],
        "description": f"a number in SI units, or a string with its unit such as '{example}'",
    }
    return BeforeValidator(validator), WithJsonSchema(schema)


Seconds = Annotated[float, *_quantity(_TIME, "3.7 us"), Field(ge=0)]
Duration = Annotated[float, *_quantity(_TIME, "12 h"), Field(ge=0)]
"""seconds too, of what people wait for"""
Bytes = Annotated[float, *_quantity(_SIZE, "80 GiB"), Field(ge=0)]
BytesPerSecond = Annotated[float, *_quantity(_RATE, "300 GB/s"), Field(gt=0)]
FlopsPerSecond = Annotated[float, *_quantity(_FLOP_RATE, "989 TFLOP/s"), Field(gt=0)]
JoulesPerByte = Annotated[float, *_quantity(_ENERGY_PER_BYTE, "5 pJ/b"), Field(ge=0)]
JoulesPerFlop = Annotated[float, *_quantity(_ENERGY_PER_FLOP, "0.5 pJ/FLOP"), Field(ge=0)]
Watts = Annotated[float, *_quantity(_POWER, "700 W"), Field(ge=0)]
Decibels = Annotated[float, *_quantity(_RATIO_DB, "0.25 dB"), Field(ge=0)]
Count = Annotated[int, Field(ge=1, le=2**30)]
"""a number of something, small enough for columns of 32 bits"""
Degree = Annotated[int, Field(ge=1, le=2**15 - 1)]
"""of parallelism, small enough for columns of 16 bits"""
