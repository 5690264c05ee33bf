"""Several allocators on the same jobs: shares admitted, with intervals and differences to an unrestricted one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.slices.allocator import Allocator
from planner.slices.any_chip import AnyChip
from planner.statistics import Estimate, controlled, estimate
from planner.studies.fragmentation.kaufman_roberts import kaufman_roberts
from planner.studies.fragmentation.loss_system import Traffic, admit, draw_traffic, measure

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class OfferedLoad:
    """Jobs of one study."""

    sizes: tuple[int, ...]
    weights: tuple[float, ...]
    """relative arrival rates of the sizes"""
    load: float
    """mean accelerators asked for at once, over the capacity"""
    jobs: int
    """arrivals of one replication"""
    seeds: int
    """independent replications, seeds 0, 1, ..."""
    warm_up: float
    """mean holding times, counted from an empty cluster, that are left out"""


@dataclass(frozen=True)
class AllocatorOutcome:
    """One allocator; all arrays have the columns of `loss_system.MEASURES`."""

    plain: Estimate
    """mean of the replications as they are"""
    best: Estimate
    """with any free accelerators, whose exact mean is known, as a control variate"""
    less_any_chip: Estimate
    """paired difference: the same jobs on any free accelerators subtracted"""


def exact(load: OfferedLoad, capacity: int) -> Floats:
    """Shares of an unrestricted first-come policy, shape (3,)."""
    sharing = kaufman_roberts(load.sizes, load.weights, load.load, capacity)
    return np.array([sharing.jobs, sharing.weighted, sharing.utilization])


def study(
    load: OfferedLoad, capacity: int, schemes: Mapping[str, Callable[[], Allocator]]
) -> dict[str, AllocatorOutcome]:
    """Each scheme on the same arrivals, sizes and holding times."""
    traffic = [
        draw_traffic(load.sizes, load.weights, load.load, capacity, load.jobs, seed) for seed in range(load.seeds)
    ]
    known, control = exact(load, capacity), replicate(lambda: AnyChip(capacity), traffic, capacity, load.warm_up)
    found = {}
    for name, make in schemes.items():
        samples = replicate(make, traffic, capacity, load.warm_up)
        found[name] = AllocatorOutcome(
            plain=estimate(samples),
            best=controlled(samples, control, known),
            less_any_chip=estimate(samples - control),
        )
    return found


def replicate(make: Callable[[], Allocator], traffic: Sequence[Traffic], capacity: int, warm_up: float) -> Floats:
    """Measures of each replication, shape (replications, 3)."""
    return np.stack([measure(jobs, admit(make(), jobs), capacity, warm_up) for jobs in traffic])
