"""Rounds of collectives whose circuits lead a few fixed numbers of ranks ahead.

An all-reduce runs an all-gather backwards and then forwards, in which what a rank gives takes the fewest circuits to
each other one and comes in equal parts from all ranks one circuit nearer. In an all-to-all, what a rank has for another
is divided equally among the shortest ways there, and of each way among the rounds in which it may set out.
"""

from collections import defaultdict
from functools import lru_cache
from itertools import combinations_with_replacement
from math import gcd, lcm

from costmodel.parallelism.configuration import Collective

Sends = tuple[tuple[int, int, tuple[int, ...]], ...]
"""(source, destination, chunks) of one round"""


def has_sound_strides(collective: Collective, ranks: int) -> bool:
    """True if all circuits are held together, lead to different ranks, and over some of them to all."""
    strides = collective.radices
    is_held = collective.held == (1,) and len(collective.wavelengths) == 1 and collective.order == "fixed"
    are_other = len(set(strides)) == len(strides) > 0 and max(strides) < ranks
    return is_held and are_other and gcd(ranks, *strides) == 1


@lru_cache(maxsize=256)
def distances(strides: tuple[int, ...], ranks: int) -> list[int]:
    """Fewest circuits from a rank to the one so many ahead, by relaxation until nothing changes."""
    found = [0] + [ranks] * (ranks - 1)
    for _ in range(ranks):
        found = [min([found[x], *(found[x - s] + 1 for s in strides)]) for x in range(ranks)]
    return found


@lru_cache(maxsize=64)
def all_reduce_rounds(strides: tuple[int, ...], ranks: int) -> tuple[tuple[Sends, ...], int]:
    """Rounds of the all-gather, which backwards are those of the reduce-scatter, and chunks of what one rank gives."""
    far = distances(strides, ranks)
    nearer = [[s for s in strides if far[x - s] == far[x] - 1] for x in range(ranks)]
    pieces = lcm(*(len(each) for each in nearer[1:]))
    rounds = []
    for number in range(1, max(far) + 1):
        sent = defaultdict(list)
        for x in (x for x in range(ranks) if far[x] == number):
            for owner in range(ranks):
                for piece in range(pieces):
                    s = nearer[x][piece * len(nearer[x]) // pieces]
                    sent[(owner + x - s) % ranks, (owner + x) % ranks].append(owner * pieces + piece)
        rounds.append(tuple((a, b, tuple(chunks)) for (a, b), chunks in sent.items()))
    return tuple(rounds), pieces


def backwards(sends: Sends, ranks: int, pieces: int) -> Sends:
    """A round of an all-gather as one of a reduce-scatter over the same circuits: ranks are counted the other way, so
    that what left a rank for its owner's side now comes from there."""
    turned = []
    for a, b, chunks in sends:
        mirrored = tuple((-(chunk // pieces) % ranks) * pieces + chunk % pieces for chunk in chunks)
        turned.append((-b % ranks, -a % ranks, mirrored))
    return tuple(turned)


@lru_cache(maxsize=64)
def relay_rounds(strides: tuple[int, ...], ranks: int) -> tuple[tuple[Sends, ...], int]:
    """Rounds of an all-to-all, and chunks of what one rank has for one other."""
    far = distances(strides, ranks)
    ways: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for number in range(1, max(far) + 1):
        for way in combinations_with_replacement(strides, number):
            if far[sum(way) % ranks] == number:
                ways[sum(way) % ranks].append(way)
    rounds = max(far)
    pieces = rounds * lcm(*map(len, ways.values()))
    sent: list[defaultdict[tuple[int, int], list[int]]] = [defaultdict(list) for _ in range(rounds)]
    for x, every in ways.items():
        for piece in range(pieces):
            way, start = every[piece % len(every)], piece // len(every) % rounds
            travelled = 0
            for number, s in sorted(((start + i) % rounds, s) for i, s in enumerate(way)):
                for source in range(ranks):
                    here = (source + travelled) % ranks
                    chunk = (source * ranks + (source + x) % ranks) * pieces + piece
                    sent[number][here, (here + s) % ranks].append(chunk)
                travelled += s
    return tuple(tuple((a, b, tuple(chunks)) for (a, b), chunks in each.items()) for each in sent), pieces


def relays_deliver(strides: tuple[int, ...], ranks: int) -> bool:
    """True if every chunk starts each send where it is, and ends at its destination."""
    rounds, pieces = relay_rounds(strides, ranks)
    at = [chunk // pieces // ranks for chunk in range(ranks * ranks * pieces)]
    for sends in rounds:
        moved = [(chunk, a, b) for a, b, chunks in sends for chunk in chunks]
        if len({chunk for chunk, _, _ in moved}) < len(moved) or any(at[chunk] != a for chunk, a, _ in moved):
            return False
        for chunk, _, b in moved:
            at[chunk] = b
    return all(rank == chunk // pieces % ranks for chunk, rank in enumerate(at))
