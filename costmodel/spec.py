"""The frozen base of all file types, and the types of their fields: quantities with units, and counts."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from costmodel.counts import MOST_PARTS
from costmodel.field_docstrings import field_descriptions
from costmodel.quantity import (
    ENERGY_PER_BYTE,
    ENERGY_PER_FLOP,
    FLOP_RATE,
    FREQUENCY,
    POWER,
    RATE,
    RATIO_DB,
    SIZE,
    TIME,
    Quantity,
)

UNIT_SUFFIXES = (
    "_bytes_per_s", "_flops_per_s", "_j_per_byte", "_j_per_flop", "_bytes", "_db", "_hz", "_s", "_w",
)  # fmt: skip


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
        defer_build=True,
    )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As pydantic's, without cached properties, which were found of the values before."""
        copied = super().model_copy(update=update, deep=deep)
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """With what each field means, which pydantic could read as well, but at every start of a program."""
        found = handler(schema)
        properties = handler.resolve_ref_schema(found).get("properties", {})
        for name, text in field_descriptions(cls).items():
            field = cls.model_fields[name]
            for key in {name, field.alias, field.serialization_alias} & properties.keys():
                properties[key]["description"] = text
        return found


MOST_BYTES = 1e18
Seconds = Annotated[float, Quantity(TIME, "3.7 us", 1e-15, 1e10), Field(ge=0)]
Duration = Annotated[float, Quantity(TIME, "12 h", 1e-6, 1e10), Field(ge=0)]
"""seconds too, of what people wait for"""
Latency = Annotated[float, Quantity(TIME, "0.7 us", 1e-12, 1e-2), Field(ge=0)]
"""seconds that a message or an access takes to begin: 10 ms is light through 2,000 km of fiber"""
SwitchingTime = Annotated[float, Quantity(TIME, "3.7 us", 1e-12, 3600.0), Field(ge=0)]
"""seconds to set switches: from picoseconds to fibers plugged by a robot"""
Bytes = Annotated[float, Quantity(SIZE, "80 GiB", 0.125, MOST_BYTES), Field(ge=0)]
BytesPerSecond = Annotated[float, Quantity(RATE, "300 GB/s", 1e6, 1e18), Field(gt=0)]
FlopsPerSecond = Annotated[float, Quantity(FLOP_RATE, "989 TFLOP/s", 1e9, 1e21), Field(gt=0)]
JoulesPerByte = Annotated[float, Quantity(ENERGY_PER_BYTE, "5 pJ/b", 1e-18, 1e-6), Field(ge=0)]
JoulesPerFlop = Annotated[float, Quantity(ENERGY_PER_FLOP, "0.5 pJ/FLOP", 1e-18, 1e-9), Field(ge=0)]
Watts = Annotated[float, Quantity(POWER, "700 W", 1e-6, 1e7), Field(ge=0)]
Hertz = Annotated[float, Quantity(FREQUENCY, "1.83 GHz", 1e6, 1e12), Field(gt=0)]
Decibels = Annotated[float, Quantity(RATIO_DB, "0.25 dB", 1e-6, 300.0), Field(ge=0)]
Count = Annotated[int, Field(ge=1, le=2**30)]
"""a number of something, small enough for columns of 32 bits"""
NumParts = Annotated[int, Field(ge=1, le=MOST_PARTS)]
"""parts of one kind in another"""
Degree = Annotated[int, Field(ge=1, le=2**15 - 1)]
"""of parallelism, small enough for columns of 16 bits"""
