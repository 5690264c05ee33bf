"""Fitted efficiencies of a device: a few numbers by kernel family and variant, apart from the published peaks."""

import json
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Literal, Self

from pydantic import Field, model_validator

from costmodel.catalog import calibration_documents, own_calibrations
from costmodel.hardware.device import Device, load_device
from costmodel.pricing.scaling import Scaling, scaled
from costmodel.spec import Spec

Numbers = dict[str, float]
"""names and values of one curve's parameters"""
Ranges = dict[str, tuple[float, float]]


DATE_PATTERN = r"\d{4}(-\d{2})?( to \d{4}(-\d{2})?)?"
"""year and month, or the first and last of several"""


class FitOrigin(Spec):
    """What decided the numbers of one curve."""

    software: str = Field(min_length=1)
    """what ran, with its version, and in what precision where the curve's name does not tell"""
    date: str = Field(pattern=rf"^{DATE_PATTERN}$")
    """year and month of the measurement, or of its publication; first and last of several"""
    data: str = Field(min_length=1)
    """where the measurements are published, and under what licence"""
    rows: int = Field(ge=1)
    fitted: tuple[str, ...] = ()
    """names of the numbers that the rows decided; the others of the curve are typical, or set"""
    ranges: Ranges = Field(default_factory=dict)
    """least and most of what the rows asked for, by name; empty where that is not recorded"""


class Calibration(Spec):
    """Curves of one device; each kernel family reads its own, and lists what its numbers mean."""

    kind: Literal["calibration"] = "calibration"
    device: str = Field(min_length=1)
    """the device's name in the catalog"""
    families: dict[str, dict[str, Numbers]] = Field(default_factory=dict)
    """family -> variant (a precision, an operation, a backend) -> parameters"""
    source: str = Field(min_length=1)
    """what the numbers were fitted on, and with what error"""
    origins: dict[str, dict[str, FitOrigin]] = Field(default_factory=dict)
    """family -> variant -> what it was fitted on; a curve without one tells it in `source` alone"""

    @model_validator(mode="after")
    def _origins_are_of_curves(self) -> Self:
        for family, variants in self.origins.items():
            for variant, origin in variants.items():
                numbers = self.variant(family, variant)
                if numbers is None:
                    raise ValueError(f"origins: '{family}' has no curve '{variant}'; name one of `families`")
                if unknown := [name for name in origin.fitted if name not in numbers]:
                    raise ValueError(f"origins: '{family} {variant}' has no number '{unknown[0]}'; name one of its own")
        return self

    def num_fitted(self, family: str) -> int:
        """Numbers that rows decided; one that several curves share counts once."""
        found = self.origins.get(family, {}).items()
        return len({(name, self.families[family][own][name]) for own, origin in found for name in origin.fitted})

    def variant(self, family: str, variant: str) -> Numbers | None:
        """The parameters of one curve; None where this device has none of its own."""
        return self.families.get(family, {}).get(variant)


DEFAULTS_OF = "h100-sxm"
"""the device whose rounded numbers are the defaults of curves"""
NO_SCALINGS: Mapping[str, Scaling] = MappingProxyType({})
Calibrations = tuple[Calibration, ...]


@cache
def load_calibrations() -> tuple[Calibration, ...]:
    """The user's calibrations, then all of the catalog; of several curves of a device the first holds.

    Raises:
        OSError: a file of the user's cannot be read.
        ValueError: it is no calibration.
    """
    own = (json.loads(path.read_text(encoding="utf-8")) for path in own_calibrations())
    return tuple(Calibration.model_validate(content) for content in (*own, *calibration_documents()))


def without_family(family: str, calibrations: Calibrations) -> Calibrations:
    """The same calibrations, with no curve of a family."""
    return tuple(
        part.model_copy(update={"families": {name: own for name, own in part.families.items() if name != family}})
        for part in calibrations
    )


def default_numbers(curve: Spec, scalings: Mapping[str, Scaling], device: Device) -> Numbers:
    """A family's defaults, those of an H100, by the peaks of a device of which nothing is known but them."""
    return scaled(curve.model_dump(by_alias=False), scalings, load_device(DEFAULTS_OF), device)


def numbers_of(
    device: Device,
    family: str,
    variant: str,
    calibrations: tuple[Calibration, ...] | None = None,
    scalings: Mapping[str, Scaling] = NO_SCALINGS,
) -> tuple[Numbers | None, bool]:
    """Parameters of a curve, and whether they were fitted on this very device.

    The device's own curve goes before those of the devices it is like, whose numbers are scaled by the peaks of both.
    `calibrations` replaces the catalog's. None where no curve is known: the family's defaults hold.
    """
    part = _nearest(device, family, variant, calibrations)
    found = None if part is None else part.variant(family, variant)
    if part is None or found is None or part.device == device.name:
        return found, found is not None
    return scaled(found, scalings, load_device(part.device), device), False


def curve_source(
    device: Device, family: str, variant: str, calibrations: tuple[Calibration, ...] | None = None
) -> tuple[str, FitOrigin | None] | None:
    """Name of the device, this one or the nearest that it is like, on which its curve was fitted, and what decided it;
    None where no curve is known."""
    part = _nearest(device, family, variant, calibrations)
    return None if part is None else (part.device, part.origins.get(family, {}).get(variant))


def _nearest(
    device: Device, family: str, variant: str, calibrations: tuple[Calibration, ...] | None
) -> Calibration | None:
    """With a curve of the device, else of the first that it is like and has one."""
    parts = load_calibrations() if calibrations is None else calibrations
    own = (
        part
        for name in device.ancestry
        for part in parts
        if part.device == name and part.variant(family, variant) is not None
    )
    return next(own, None)


def origin_of(device: Device, family: str, variant: str) -> FitOrigin | None:
    """What a curve of this very device was fitted on; None where nothing was, or it is not recorded."""
    own = (part.origins.get(family, {}).get(variant) for part in load_calibrations() if part.device == device.name)
    return next((origin for origin in own if origin is not None), None)
