"""Rounds of broadcasts of whole messages, and of all-to-alls."""

from itertools import accumulate
from operator import mul

import numpy as np

from costmodel.collectives.digits import levels, straight
from costmodel.collectives.plan import CollectivePlan
from costmodel.collectives.schedule import Schedule, Writer


def tree(plan: CollectivePlan) -> Schedule:
    """Broadcast from rank 0: each rank that has the message sends it to radix - 1 others.

    Rank d gets it over the places that its digits lead to: first the highest, or in the call that runs the other
    way the lowest.
    """
    writer = Writer(plan)
    rest, steps = np.arange(plan.ranks), []
    for level in levels(plan.ranks, plan.radices):
        steps.append(rest // level.window * level.window)
        rest = rest % level.window
    for call in range(2 if plan.order == "alternating" else 1):
        for digit, configuration in plan.downward() if call == 0 else plan.upward():
            writer.begin_round(configuration, call)
            later = steps[digit + 1 :] if call == 0 else steps[:digit]
            receiver = np.flatnonzero((steps[digit] > 0) & (sum(later, np.zeros(plan.ranks)) == 0))
            sender = receiver - steps[digit][receiver]
            writer.move(sender, receiver, np.zeros(1, dtype=np.int64), adds=False, digit=digit)
    return writer.finish(1, 1)


def fixed_tree(plan: CollectivePlan) -> Schedule:
    """Broadcast from rank 0 down a complete tree, level by level."""
    writer, fan_out = Writer(plan), plan.radices[0] - 1
    first, end = 1, 1 + fan_out
    while first < plan.ranks:
        child = np.arange(first, min(end, plan.ranks))
        writer.begin_round(0, 0)
        writer.move((child - 1) // fan_out, child, np.zeros(1, dtype=np.int64), adds=False, digit=0)
        first, end = end, end * fan_out + 1
    return writer.finish(1, 1)


def direct(plan: CollectivePlan) -> Schedule:
    """All-to-all straight to each destination, nearest first."""
    writer, everyone = Writer(plan), np.arange(plan.ranks)
    distances = straight(plan.radices)
    for call in range(2 if plan.order == "alternating" else 1):
        for digit, configuration in plan.downward() if call == 0 else plan.upward():
            writer.begin_round(configuration, call)
            for distance in distances[digit]:
                receiver = (everyone + distance) % plan.ranks
                writer.move(everyone, receiver, everyone * plan.ranks + receiver, adds=False, digit=digit)
    return writer.finish(plan.ranks, plan.ranks**2)


def bruck(plan: CollectivePlan) -> Schedule:
    """All-to-all by relays: what has far to go travels one digit of its distance in each round."""
    ranks, writer = plan.ranks, Writer(plan)
    everyone, distance = np.arange(ranks), np.arange(ranks)
    stride = [*accumulate(plan.radices, mul, initial=1)]
    for call in range(2 if plan.order == "alternating" else 1):
        travelled = np.zeros(ranks, dtype=np.int64)
        for digit, configuration in plan.downward() if call == 0 else plan.upward():
            writer.begin_round(configuration, call)
            step = distance // stride[digit] % plan.radices[digit] * stride[digit]
            moves = np.flatnonzero(step)
            sender = (everyone[:, None] + travelled[moves]) % ranks
            receiver = (sender + step[moves]) % ranks
            chunk = everyone[:, None] * ranks + (everyone[:, None] + moves) % ranks
            writer.move(sender, receiver, chunk, adds=False, digit=digit)
            travelled += step
    return writer.finish(ranks, ranks**2)
