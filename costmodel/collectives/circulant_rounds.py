"""Rounds of collectives over circulants."""

from collections.abc import Iterator

import numpy as np

from costmodel.collectives.circulants import gather_pieces, reached, relay_pieces, shortest_ways
from costmodel.collectives.plan import CollectivePlan
from costmodel.collectives.schedule import Schedule, Writer


def circulant(plan: CollectivePlan) -> Schedule:
    """A reduce-scatter, its all-gather, or both: chunk r pieces + p is piece p of what rank r ends with or gives."""
    writer, ranks = Writer(plan), plan.ranks
    everyone, pieces = np.arange(ranks), gather_pieces(ranks, plan.radices)
    rounds = reached(ranks, plan.radices)
    if plan.collective != "all_gather":
        for found in reversed(rounds):
            writer.begin_round(0, 0)
            for ahead, stride, own in _shares(found, pieces):
                sender = (everyone - ahead) % ranks
                chunk = everyone[:, None] * pieces + own
                writer.move(sender[:, None], (sender[:, None] + stride) % ranks, chunk, adds=True, digit=0)
    if plan.collective != "reduce_scatter":
        for found in rounds:
            writer.begin_round(0, 0)
            for ahead, stride, own in _shares(found, pieces):
                receiver = (everyone + ahead) % ranks
                chunk = everyone[:, None] * pieces + own
                writer.move((receiver[:, None] - stride) % ranks, receiver[:, None], chunk, adds=False, digit=0)
    return writer.finish(ranks * pieces, ranks * pieces)


def _shares(found: dict[int, tuple[int, ...]], pieces: int) -> Iterator[tuple[int, int, "np.ndarray"]]:
    """(ranks ahead, last stride, pieces that come over it) of one round."""
    for ahead, strides in found.items():
        for number, own in enumerate(np.split(np.arange(pieces), len(strides))):
            yield ahead, strides[number], own


def circulant_relay(plan: CollectivePlan) -> Schedule:
    """An all-to-all: slots (source n + destination) pieces + p, those of each way by the round that it begins in."""
    writer, ranks = Writer(plan), plan.ranks
    rounds, pieces = len(reached(ranks, plan.radices)), relay_pieces(ranks, plan.radices)
    everyone = np.arange(ranks)
    for number in range(rounds):
        writer.begin_round(0, 0)
        for ahead, ways in shortest_ways(ranks, plan.radices).items():
            of_way = pieces // len(ways)
            for piece in range(pieces):
                way, first = ways[piece // of_way], piece % rounds
                turn = (number - first) % rounds
                if turn >= len(way):
                    continue
                before = [way[i] for i in range(len(way)) if (first + i) % rounds < number]
                sender = (everyone + sum(before)) % ranks
                chunk = (everyone * ranks + (everyone + ahead) % ranks) * pieces + piece
                writer.move(sender, (sender + way[turn]) % ranks, chunk, adds=False, digit=0)
    return writer.finish(ranks * pieces, ranks * ranks * pieces)
