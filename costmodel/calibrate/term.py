"""What an ablation leaves out of a curve."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from costmodel.pricing.calibration import Numbers


@dataclass(frozen=True)
class Term:
    """A part of a curve, and what takes its place without it."""

    name: str
    fixed: Numbers = field(default_factory=dict)
    tied: Mapping[str, str] = field(default_factory=dict)
    """number -> the number that serves in its place"""


FULL = Term("")
