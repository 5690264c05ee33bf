"""All-reduces over several racks: what racks exchange between the reduce-scatter and the all-gather in each."""

from functools import lru_cache

import numpy as np

from costmodel.fabrics import FabricBase, UpperFibers, UpperPackets, UpperSwitches
from costmodel.parallelism.configuration import Collective, Configuration
from planner.checks.schedule import schedule_of
from planner.checks.sends import Sums

Time = tuple[float, float]
"""fixed seconds of a message, and seconds per byte"""
NO_TIME: Time = (0.0, 0.0)


def time_between_racks(fabric: FabricBase, configuration: Configuration) -> Time:
    """What racks take to add up what each rank has after the reduce-scatter in its rack, and to give it back.

    All groups along data do so at once, over the links that the job holds: in a ring of racks each round passes on a
    part of as many parts as there are racks; over fibers each rack sends a part to each other, twice.
    """
    asked, upper = configuration.data_collective, fabric.upper_layer
    if upper is None or not asked.links:
        return NO_TIME
    messages = configuration.tensor * configuration.pipeline
    if isinstance(upper, UpperFibers):
        rounds, rate = 2, upper.wavelength_bandwidth_bytes_per_s
    else:
        assert isinstance(upper, UpperPackets | UpperSwitches)
        rounds, rate = 2 * (asked.racks - 1), upper.bandwidth_bytes_per_s
    return rounds * upper.alpha_s, rounds * messages / asked.racks / (asked.links * rate)


@lru_cache(maxsize=256)
def reduces_once_across(collective: Collective, ranks: int) -> bool:
    """True if every rank of all racks ends with every chunk reduced once; `ranks` of the group lie in each rack, and
    each has a part of its own to exchange with other racks."""
    schedule = schedule_of(collective.model_copy(update={"racks": 1, "links": 0}), ranks)
    if schedule.num_chunks < ranks:
        return False
    halves = [[each for each in schedule.rounds if each.adds == adds] for adds in (True, False)]
    total = ranks * collective.racks
    sums = [
        Sums.of_own(np.arange(first, first + ranks), schedule.num_chunks, total) for first in range(0, total, ranks)
    ]
    for each in halves[0]:
        for rack in sums:
            each.moves.run(rack)
    is_whole = np.all([rack.are(ranks * number, ranks * number + ranks) for number, rack in enumerate(sums)], axis=0)
    parts = np.bitwise_or.reduce([rack.parts[is_whole] for rack in sums])
    for rack in sums:
        rack.parts[is_whole], rack.count[is_whole] = parts, total
    for each in halves[1]:
        for rack in sums:
            each.moves.run(rack)
    return all(bool(rack.are(0, total).all()) for rack in sums)
