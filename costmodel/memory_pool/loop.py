"""The method of SiPAM: units for the bandwidth, accelerators for the capacity, a mapping for them, and again.

Source: SiPAM (paper 001), section 3. From intensity I_w and size C_w of the workload, B_req = F_peak / I_w,
N_m = ceil(B_req / B_m), N_IO,m = ceil(N_m B_m / B_IO), N_c = ceil(C_w / (N_m C_m)); the mapping chosen on N_c
accelerators has another I_w and C_w. How it is chosen is not in the paper: here the fastest that fits.
"""

from dataclasses import dataclass, replace
from typing import Literal

from costmodel.hardware.memory.choices import MemoryChoices
from costmodel.memory_pool.demand import Demand, Demands
from costmodel.memory_pool.parts import ROUNDING
from costmodel.memory_pool.pool import MemoryPool, rounded_up

Stop = Literal["fixed point", "oscillation", "round limit", "accelerator limit"]
ROUNDS = 32
ACCELERATORS = 1 << 14


@dataclass(frozen=True)
class Round:
    """One pass through the equations."""

    flops_per_byte: float
    """I_w that it started from"""
    workload_bytes: float
    """C_w likewise"""
    required_bytes_per_s: float
    """B_req"""
    units: int
    """N_m"""
    memory_io: int
    """N_IO,m"""
    network_io: int
    """N_IO,net"""
    asked: int
    """N_c by the capacity"""
    accelerators: int
    """the least number from `asked` on that the workload divides over; 0 where the limit has none"""
    mapping: dict[str, int]
    """chosen on them"""
    next_flops_per_byte: float
    """I_w under that mapping"""
    next_workload_bytes: float
    """C_w likewise"""
    step_s: float
    """least time of a step under that mapping, messages left out"""
    fits: bool
    """whether an accelerator's share fits in its units"""
    is_short: bool
    """whether the I/Os carry less than B_req"""
    changed: tuple[str, ...]
    """what differs from the round before"""


@dataclass(frozen=True)
class Allocation:
    """What the method ends with, and how it came to it."""

    rounds: tuple[Round, ...]
    stop: Stop
    result: Round
    """the last round; of an oscillation, the fastest of its rounds that fits"""
    period: int = 0
    """rounds of an oscillation"""

    @property
    def reason(self) -> str:
        """Why it stopped, in words."""
        last = self.rounds[-1]
        return {
            "fixed point": f"the mapping is the one that round {len(self.rounds)} started from",
            "oscillation": f"the last {self.period} rounds repeat",
            "round limit": f"{len(self.rounds)} rounds without a fixed point",
            "accelerator limit": f"{last.asked} accelerators are asked for, and the workload divides over none allowed",
        }[self.stop]


def allocate(
    demand: Demand,
    flops_per_s: float,
    pool: MemoryPool,
    *,
    max_rounds: int = ROUNDS,
    max_accelerators: int = ACCELERATORS,
) -> Allocation:
    """Run the method from the least number of accelerators that the workload divides over.

    ValueError where it divides over none up to `max_accelerators`.
    """
    known: dict[int, Demands] = {}
    table = _divisible(demand, known, 1, max_accelerators)
    if table is None:
        raise ValueError(f"max_accelerators: the workload divides over no number up to {max_accelerators}; raise it")
    choices = pool.choices()
    row = table.best(flops_per_s, float(choices.bytes_per_s[-1]), float(choices.capacity_bytes[-1]))
    rounds: list[Round] = []
    seen = [table.mappings.choice(row)]
    while len(rounds) < max_rounds:
        one, table, row = _round(demand, known, table, row, flops_per_s, pool, choices, max_accelerators)
        rounds.append(_compared(one, rounds))
        if one.accelerators == 0:
            return Allocation(tuple(rounds), "accelerator limit", rounds[-1])
        if one.mapping == seen[-1]:
            return Allocation(tuple(rounds), "fixed point", rounds[-1])
        if one.mapping in seen:
            period = len(seen) - seen.index(one.mapping)
            return Allocation(tuple(rounds), "oscillation", _best_of(rounds[-period:]), period)
        seen.append(one.mapping)
    return Allocation(tuple(rounds), "round limit", rounds[-1])


def _divisible(demand: Demand, known: dict[int, Demands], least: int, most: int) -> Demands | None:
    """Demands on the least number of accelerators from `least` to `most` that there is a mapping for; `known`: those
    that earlier rounds asked for, by number."""
    for number in range(least, most + 1):
        if number not in known and len(mappings := demand.mappings(number)):
            known[number] = demand.demands(mappings)
        if number in known:
            return known[number]
    return None


def _round(
    demand: Demand,
    known: dict[int, Demands],
    table: Demands,
    row: int,
    flops_per_s: float,
    pool: MemoryPool,
    choices: MemoryChoices,
    max_accelerators: int,
) -> tuple[Round, Demands, int]:
    """One pass from the mapping in a row of a table; the table and row that it ends in, the same where none is left."""
    intensity, size = float(table.flops_per_byte[row]), float(table.workload_bytes[row])
    required = flops_per_s / intensity
    units = int(pool.units_for(required))
    bytes_per_s, capacity = float(choices.bytes_per_s[units - 1]), float(choices.capacity_bytes[units - 1])
    asked = int(rounded_up(size / capacity))
    found = _divisible(demand, known, asked, max_accelerators)
    chosen = row if found is None else found.best(flops_per_s, bytes_per_s, capacity)
    after = table if found is None else found
    result = Round(
        flops_per_byte=intensity,
        workload_bytes=size,
        required_bytes_per_s=required,
        units=units,
        memory_io=int(choices.memory_io[units - 1]),
        network_io=int(choices.network_io[units - 1]),
        asked=asked,
        accelerators=0 if found is None else int(found.mappings.num_devices[chosen]),
        mapping=after.mappings.choice(chosen),
        next_flops_per_byte=float(after.flops_per_byte[chosen]),
        next_workload_bytes=float(after.workload_bytes[chosen]),
        step_s=float(after.time_s(flops_per_s, bytes_per_s)[chosen]),
        fits=found is not None and float(found.footprint_bytes[chosen]) <= capacity * (1 + ROUNDING),
        is_short=required > bytes_per_s * (1 + ROUNDING),
        changed=(),
    )
    return result, after, chosen


def _compared(one: Round, before: list[Round]) -> Round:
    """The round with what it changed."""
    if not before:
        return one
    names = ("units", "memory_io", "asked", "accelerators", "mapping")
    return replace(one, changed=tuple(name for name in names if getattr(one, name) != getattr(before[-1], name)))


def _best_of(cycle: list[Round]) -> Round:
    """The fastest that fits. One does: where a round does not fit, what all accelerators keep has grown in it."""
    return min((one for one in cycle if one.fits), key=lambda one: one.step_s)
