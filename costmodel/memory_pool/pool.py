"""A pool of memory units behind the photonic I/Os of an accelerator: how many of either a bandwidth takes.

Source: SiPAM (paper 001), section 3: N_m = ceil(B_req / B_m), N_IO,m = ceil(N_m B_m / B_IO), N_IO,net = N_IO - N_IO,m.
"""

import math
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from costmodel.hardware.memory.choices import MemoryChoices
from costmodel.memory_pool.parts import ROUNDING, ShorelineOrName, UnitOrName, too_fast
from costmodel.spec import Spec

Ints = NDArray[np.integer[Any]]


def rounded_up(quotient: ArrayLike) -> Ints:
    """The next whole number, where binary numbers differ from one by rounding that one; any shape."""
    return np.ceil(np.asarray(quotient, np.float64) * (1 - ROUNDING)).astype(np.int64)


class MemoryPool(Spec):
    """Shoreline and units of an accelerator without memory of its own; units may be any number that the I/Os carry."""

    kind: Literal["memory_pool"] = "memory_pool"
    shoreline: ShorelineOrName
    unit: UnitOrName
    spread: bool = False
    """whether one unit may be read over several I/Os, and so be faster than one"""
    network_io: int = Field(default=0, ge=0)
    """I/Os that are kept for the network"""

    @model_validator(mode="after")
    def _io_carry_units(self) -> Self:
        io_bytes_per_s = self.shoreline.io.bandwidth_bytes_per_s
        if self.unit_bytes_per_s > io_bytes_per_s * (1 + ROUNDING) and not self.spread:
            raise ValueError(f"{too_fast(self.unit, io_bytes_per_s, 'an I/O')}, or set spread: true")
        if self.most_units < 1:
            raise ValueError(
                f"network_io: of {self.shoreline.num_io} I/Os, {self.network_io} kept for the network leave too few "
                f"for one unit; keep at most {self.shoreline.num_io - int(self.memory_io(1))}"
            )
        return self

    @property
    def unit_bytes_per_s(self) -> float:
        return self.unit.stack.bandwidth_bytes_per_s

    @property
    def most_units(self) -> int:
        """Units whose bandwidth the I/Os that are not kept carry."""
        carried = (self.shoreline.num_io - self.network_io) * self.shoreline.io.bandwidth_bytes_per_s
        return math.floor(carried / self.unit_bytes_per_s * (1 + ROUNDING))

    def units_for(self, bytes_per_s: ArrayLike) -> Ints:
        """Units that give a bandwidth, of its shape: one at least, and no more than the I/Os carry."""
        asked = rounded_up(np.asarray(bytes_per_s, np.float64) / self.unit_bytes_per_s)
        return np.clip(asked, 1, self.most_units)

    def memory_io(self, units: ArrayLike) -> Ints:
        """I/Os that carry so many units, of their shape."""
        return rounded_up(np.asarray(units) * self.unit_bytes_per_s / self.shoreline.io.bandwidth_bytes_per_s)

    def choices(self, units: ArrayLike | None = None) -> MemoryChoices:
        """What so many units give, of shape (S,); every number of units unless given."""
        every = np.arange(1, self.most_units + 1)
        chosen = every if units is None else np.atleast_1d(np.asarray(units, np.int64))
        if np.any(chosen < 1) or np.any(chosen > self.most_units):
            raise ValueError(f"units: {chosen.tolist()}; the I/Os carry 1 to {self.most_units}")
        tier, memory_io, count = self.unit.tier(), self.memory_io(chosen), chosen.astype(np.float64)
        network_io = self.shoreline.num_io - memory_io
        return MemoryChoices(
            name=self.unit.name,
            source=self.unit.source,
            units=chosen,
            memory_io=memory_io,
            network_io=network_io,
            capacity_bytes=count * tier.capacity_bytes,
            bytes_per_s=count * tier.bandwidth_bytes_per_s,
            network_bytes_per_s=network_io.astype(np.float64) * self.shoreline.io.bandwidth_bytes_per_s,
            latency_s=np.full(len(chosen), tier.latency_s),
            added_latency_s=np.full(len(chosen), self.unit.link_latency_s),
            j_per_byte=np.full(len(chosen), tier.energy_j_per_byte),
        )
