"""Fitted efficiencies of a device: a few numbers by kernel family and variant, apart from the published peaks."""

from functools import cache
from typing import Literal

from pydantic import Field

from costmodel.catalog import calibration_documents
from costmodel.spec import Spec

Numbers = dict[str, float]
"""names and values of one curve's parameters"""


class Calibration(Spec):
    """Curves of one device; each kernel family reads its own, and lists what its numbers mean."""

    kind: Literal["calibration"] = "calibration"
    device: str = Field(min_length=1)
    """the device's name in the catalog"""
    like: str | None = None
    """a device of the same architecture whose curves serve for families that this one lacks"""
    families: dict[str, dict[str, Numbers]] = Field(default_factory=dict)
    """family -> variant (a precision, an operation, a backend) -> parameters"""
    source: str = Field(min_length=1)
    """what the numbers were fitted on, and with what error"""

    def variant(self, family: str, variant: str) -> Numbers | None:
        """The parameters of one curve; None where this device has none of its own."""
        return self.families.get(family, {}).get(variant)


@cache
def load_calibrations(device: str) -> tuple[Calibration, ...]:
    """The catalog's calibrations of a device, then those of the device it is like; () where there are none."""
    parts = [Calibration.model_validate(content) for content in calibration_documents()]
    own = [part for part in parts if part.device == device]
    likes = {part.like for part in own if part.like}
    return (*own, *(part for part in parts if part.device in likes))


def numbers_of(
    device: str, family: str, variant: str, calibrations: tuple[Calibration, ...] | None = None
) -> tuple[Numbers | None, bool]:
    """Parameters of a curve, and whether they were fitted on this very device.

    `calibrations` replaces the catalog's. None where no curve is known: the family's defaults hold.
    """
    for part in load_calibrations(device) if calibrations is None else calibrations:
        found = part.variant(family, variant)
        if found is not None:
            return found, part.device == device
    return None, False
