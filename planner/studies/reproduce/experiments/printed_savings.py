"""Savings of energy from the shares that a paper prints: their ends and means, by traffic and over all."""

from typing import Annotated

import numpy as np
from pydantic import Field

from costmodel.spec import Spec

Percent = Annotated[float, Field(ge=0, le=100)]


class Inputs(Spec):
    """What remains of the baseline's energy, as printed."""

    remaining_percent: dict[str, tuple[Percent, ...]] = Field(min_length=1)
    """by traffic, in percent of the baseline"""


def compute(inputs: Inputs) -> dict[str, float]:
    """Least, mean and largest share that is saved."""
    shares = {traffic: 1 - np.asarray(percent) / 100 for traffic, percent in inputs.remaining_percent.items()}
    shares["all traffic"] = np.concatenate(list(shares.values()))
    found: dict[str, float] = {}
    for traffic, saved in shares.items():
        found |= {
            f"least saving, {traffic}": float(saved.min()),
            f"mean saving, {traffic}": float(saved.mean()),
            f"largest saving, {traffic}": float(saved.max()),
        }
    return found
