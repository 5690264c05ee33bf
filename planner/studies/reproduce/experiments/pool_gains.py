"""Iteration times on photonic memory pools against local memory: gains and what bounds them; figure 3 of SiPAM.

Times are the slower of compute and memory, messages left out. With as many accelerators on both systems, what gains is
the bandwidth of each. Sized by capacity, each system has as many as its memory holds the workload on. Beside, the
fastest candidates of the planner on a pool and on servers of the baseline, with messages, launches and what kernels
reach.
"""

from dataclasses import dataclass

from planner.studies.reproduce.experiments import pool_rooflines
from planner.studies.reproduce.experiments.pool_candidates import gains as candidate_gains
from planner.studies.reproduce.experiments.pool_rooflines import OWN, PHASES, READINGS, GivenRoofline, given
from planner.studies.reproduce.experiments.static_batches import PRODUCT


class Inputs(pool_rooflines.Inputs):
    """As there, and the device of the catalog that stands for the baseline among candidates."""

    catalog_device: str


@dataclass(frozen=True)
class Gain:
    """Of one workload under one reading, over the baseline."""

    given: GivenRoofline
    equal: float
    """with as many accelerators"""
    delayed: float
    """likewise, each operator waiting for the light"""
    sized: float
    """with accelerators by capacity, not rounded"""
    bandwidth: float
    """of all memory together, with accelerators by capacity"""


def gains(inputs: Inputs) -> list[Gain]:
    """By reading, phase and model."""
    return [_gain(inputs, each) for each in given(inputs)]


def _gain(inputs: Inputs, each: GivenRoofline) -> Gain:
    device, peak = inputs.baseline.device, inputs.flops_per_s
    latency_s = inputs.pool.unit.link_latency_s
    before_s = float(each.divided.time_s(peak, device.memory_bytes_per_s)[0])
    equal = before_s / float(each.divided.time_s(peak, each.bytes_per_s)[0])
    accelerators = device.capacity_bytes / each.capacity_bytes
    return Gain(
        given=each,
        equal=equal,
        delayed=before_s / float(each.divided.time_s(peak, each.bytes_per_s, latency_s)[0]),
        sized=equal * accelerators,
        bandwidth=each.bytes_per_s / device.memory_bytes_per_s * accelerators,
    )


def compute(inputs: Inputs) -> dict[str, float]:
    """Counts, gains by workload and reading, their largest, and the bounds."""
    device, unit = inputs.baseline.device, inputs.pool.unit.stack
    every = gains(inputs)
    found = {
        "I/O modules": float(inputs.pool.shoreline.num_io),
        "units of the baseline's capacity": device.capacity_bytes / unit.capacity_bytes,
        "units of the baseline's bandwidth": device.memory_bytes_per_s / unit.bandwidth_bytes_per_s,
        "least memory bandwidth gain, sized by capacity": min(one.bandwidth for one in every),
        "most memory bandwidth gain, sized by capacity": max(one.bandwidth for one in every),
    }
    for reading, pool in inputs.pools().items():
        most = float(pool.choices(pool.most_units).bytes_per_s[0])
        found[f"most units, {reading}"] = pool.most_units
        found[f"bandwidth of an I/O, {reading}"] = pool.shoreline.io.bandwidth_bytes_per_s
        found[f"bound of the memory bandwidth gain, {reading}"] = most / device.memory_bytes_per_s
    for one in every:
        name = f"{one.given.name}, {one.given.reading}"
        found[f"gain {name}"], found[f"gain {name}, sized by capacity"] = one.equal, one.sized
    found |= _by_product(inputs, every)
    for batch in inputs.other_batches:
        of_batch = _largest(gains(inputs.with_batch(batch)))
        found |= {f"{name}, batch {batch}": value for name, value in of_batch.items()}
    return found | _largest(every)


def _by_product(inputs: Inputs, every: list[Gain]) -> dict[str, float]:
    """Gains of candidates on as many accelerators as the method ends with, and the largest of each phase."""
    own = [one.given for one in every if one.given.reading == OWN]
    counts = {(each.label, each.phase): int(each.allocation.result.accelerators) for each in own}
    found: dict[str, float] = {}
    for label, phase, gain in candidate_gains(inputs, inputs.catalog_device, counts):
        found[f"gain {label} {phase}{PRODUCT}"] = gain
        largest = f"largest {phase} gain{PRODUCT}"
        found[largest] = max(gain, found.get(largest, 0.0))
    return found


def _largest(every: list[Gain]) -> dict[str, float]:
    found: dict[str, float] = {}
    for reading in READINGS:
        for phase in PHASES:
            of = [one for one in every if (one.given.reading, one.given.phase) == (reading, phase)]
            found[f"largest {phase} gain, {reading}"] = max(one.equal for one in of)
            found[f"largest {phase} gain, {reading}, with added latency"] = max(one.delayed for one in of)
            found[f"largest {phase} gain, {reading}, sized by capacity"] = max(one.sized for one in of)
        training, inference = (found[f"largest {phase} gain, {reading}"] for phase in PHASES)
        found[f"largest inference gain over that of training, {reading}"] = inference / training
    return found
