"""How long the users of a serving job wait at most: a candidate that lets them wait longer is not listed."""

from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from costmodel.parallelism.mappings import Bools, Floats
from costmodel.quantity import TIME, Quantity
from costmodel.spec import Spec

ROUNDING = 1e-9
"""relative; times of one configuration may differ in the last digits with the rows they are priced among"""
WAITING = Quantity(TIME, "500 ms", 1e-6, 1e5)
WaitingTime = Annotated[float, WAITING, Field(gt=0)]


class ServingLimits(Spec):
    """Longest times of the mean request; at least one of them."""

    ttft_s: WaitingTime | None = None
    """time to first token: from sending a prompt to the first token of its answer"""
    tpot_s: WaitingTime | None = None
    """time per output token: between two tokens of an answer"""

    @model_validator(mode="after")
    def _limits_something(self) -> Self:
        if self.ttft_s is None and self.tpot_s is None:
            raise ValueError("there is no limit in it; give ttft, such as 500 ms, tpot, such as 40 ms, or both")
        return self

    def excess(self, ttft_s: Floats, tpot_s: Floats) -> NDArray[np.float64]:
        """Time over its limit, of the one that is missed most; at most 1 where both are met, shape (C,)."""
        share = np.zeros(len(ttft_s))
        for found_s, limit_s in ((ttft_s, self.ttft_s), (tpot_s, self.tpot_s)):
            if limit_s is not None:
                share = np.maximum(share, found_s / limit_s)
        return share

    def are_met(self, ttft_s: Floats, tpot_s: Floats) -> Bools:
        """Which candidates meet all limits, shape (C,)."""
        return np.asarray(self.excess(ttft_s, tpot_s) <= 1 + ROUNDING)
