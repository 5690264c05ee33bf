"""Rounds of a full exchange: whole messages to every peer.

Where the radices multiply to the ranks, every rank adds what it receives. Otherwise a rank keeps two sums: V over
the c ranks up to itself, and U over the same without itself. A window of L = a c + b (c - 1) ranks is covered once by a
sums V and b sums U of shifted ranks, its own V among them, and the received sums are added to both. The call that
runs the other way is its transpose: what is added to both is then the sum of both, and what is sent as V or U arrives
as V or U. Source: Bar-Noy, Kipnis and Schieber, Parallel Process. Lett. 3 (1993), with more ports.
"""

import numpy as np

from costmodel.collectives.digits import U, V, is_exact, levels, sums_ahead, window_peers
from costmodel.collectives.plan import CollectivePlan
from costmodel.collectives.schedule import LOCAL, Schedule, Writer

BOTH = 2
"""slot of the sum of both; V and U are slots as well, and further ones receive, one for each peer"""


def exchange(plan: CollectivePlan) -> Schedule:
    """All rounds; received messages wait in slots of their own, since a rank sends and receives at the same time."""
    writer = Writer(plan)
    for call in range(2 if plan.order == "alternating" else 1):
        if is_exact(plan.ranks, plan.radices):
            _exact(writer, call)
        elif call == 0:
            _sums(writer)
        else:
            _transposed(writer)
    return writer.finish(1, BOTH + max(plan.radices, default=1))


def _exact(writer: Writer, call: int) -> None:
    plan = writer.plan
    everyone, slot = np.arange(plan.ranks), np.zeros(1, dtype=np.int64)
    for digit, configuration in plan.upward() if call == 0 else plan.downward():
        writer.begin_round(configuration, call)
        level = levels(plan.ranks, plan.radices)[digit]
        for receiver, ahead in window_peers(plan.ranks, level, exact=True):
            writer.move(everyone, receiver, slot, target=slot + BOTH + ahead, adds=False, digit=digit)
        writer.begin_local_round()
        for ahead in range(1, level.radix):
            writer.move(everyone, everyone, slot + BOTH + ahead, target=slot, adds=True, digit=LOCAL)


def _sums(writer: Writer) -> None:
    """From single ranks to all of them."""
    plan = writer.plan
    everyone, slot = np.arange(plan.ranks), np.zeros(1, dtype=np.int64)
    has_rest = False
    for digit, configuration in plan.upward():
        writer.begin_round(configuration, 0)
        sends = sums_ahead(levels(plan.ranks, plan.radices)[digit])
        for ahead, (shift, what) in enumerate(sends, start=1):
            receiver = (everyone + shift) % plan.ranks
            writer.move(everyone, receiver, slot + what, target=slot + BOTH + ahead, adds=False, digit=digit)
        writer.begin_local_round()
        for ahead in range(1, len(sends) + 1):
            writer.move(everyone, everyone, slot + BOTH + ahead, target=slot + V, adds=True, digit=LOCAL)
        if digit == 0:
            continue
        for ahead in range(1, len(sends) + 1):
            if ahead == 2 and not has_rest:
                writer.begin_local_round()
            adds = has_rest or ahead > 1
            writer.move(everyone, everyone, slot + BOTH + ahead, target=slot + U, adds=adds, digit=LOCAL)
        has_rest = True


def _transposed(writer: Writer) -> None:
    """From all ranks to single ones."""
    plan = writer.plan
    everyone, slot = np.arange(plan.ranks), np.zeros(1, dtype=np.int64)
    has_rest = False
    for digit, configuration in plan.downward():
        if has_rest:
            writer.begin_local_round()
            writer.move(everyone, everyone, slot + V, target=slot + BOTH, adds=False, digit=LOCAL)
            writer.begin_local_round()
            writer.move(everyone, everyone, slot + U, target=slot + BOTH, adds=True, digit=LOCAL)
        writer.begin_round(configuration, 1)
        sends = sums_ahead(levels(plan.ranks, plan.radices)[digit])
        for ahead, (shift, _) in enumerate(sends, start=1):
            receiver = (everyone + shift) % plan.ranks
            source = slot + (BOTH if has_rest else V)
            writer.move(everyone, receiver, source, target=slot + BOTH + ahead, adds=False, digit=digit)
        for ahead, (_, what) in enumerate(sends, start=1):
            if ahead == 1 or (what == U and not has_rest):
                writer.begin_local_round()
            adds = what == V or has_rest
            writer.move(everyone, everyone, slot + BOTH + ahead, target=slot + what, adds=adds, digit=LOCAL)
            if what == U and not has_rest:
                writer.begin_local_round()
                has_rest = True
