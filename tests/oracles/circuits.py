"""Circuits that a configuration requires, written from planner/RULES.md alone."""

from collections.abc import Iterator
from itertools import combinations
from math import prod
from typing import Literal

from costmodel.parallelism.configuration import Collective, Configuration

Circuit = tuple[int, int, int]
"""source rank, destination rank, number of wavelengths"""
Dimension = Literal["tensor", "pipeline", "data", "context", "expert"]
Held = tuple[Dimension, tuple[Circuit, ...]]
"""dimension and circuits of one configuration of light"""


def required_circuits(configuration: Configuration) -> tuple[Held, ...]:
    """Held circuits of a job: those of tensor, then pipeline, data, context and expert."""
    c = configuration
    if c.prefill_tensor:
        return _circuits_of_pools(c)
    columns, contexts, stages, replicas = (range(n) for n in (c.tensor, c.context, c.pipeline, c.data))

    def rank(replica: int, stage: int, context: int, column: int) -> int:
        return ((replica * c.pipeline + stage) * c.context + context) * c.tensor + column

    groups: dict[Dimension, list[list[int]]] = {
        "tensor": [[rank(d, p, x, t) for t in columns] for d in replicas for p in stages for x in contexts],
        "pipeline": [[rank(d, p, x, t) for p in stages] for d in replicas for x in contexts for t in columns],
        "data": [[rank(d, p, x, t) for d in replicas for x in contexts] for p in stages for t in columns],
        "context": [[rank(d, p, x, t) for x in contexts] for d in replicas for p in stages for t in columns],
        "expert": [
            [rank(first + i, p, x, t) for i in range(c.expert)]
            for first in range(0, c.data, c.expert)
            for p in stages
            for x in contexts
            for t in columns
        ],
    }
    size = len(groups["data"][0]) // c.data_collective.racks
    groups["data"] = [group[i : i + size] for group in groups["data"] for i in range(0, len(group), size)]
    held: list[Held] = []
    for dimension, members in groups.items():
        collective = getattr(configuration, f"{dimension}_collective")
        for circuits in _group_circuits(collective, len(members[0])):
            union = [(group[a], group[b], width) for group in members for a, b, width in circuits]
            held.append((dimension, tuple(union)))
    return tuple(held)


def _circuits_of_pools(c: Configuration) -> tuple[Held, ...]:
    """Two pools with degrees of their own: tensor circuits of all replicas at once, then those of the caches."""
    tokens, first = c.data - c.prefill, c.prefill * c.prefill_tensor
    rows = [[i * c.prefill_tensor + column for column in range(c.prefill_tensor)] for i in range(c.prefill)]
    others = [[first + j * c.tensor + column for column in range(c.tensor)] for j in range(tokens)]
    assert c.tensor_collective.prefill is not None
    sides = ((rows, c.tensor_collective.prefill), (others, c.tensor_collective))
    tensor = [
        (group[a], group[b], width)
        for groups, collective in sides
        for circuits in _group_circuits(collective, len(groups[0]))
        for group in groups
        for a, b, width in circuits
    ]
    held: list[Held] = [("tensor", tuple(tensor))] if tensor else []
    if c.data_collective.wavelengths:
        width = c.data_collective.wavelengths[0]
        met = {(i, j - c.prefill) for i, j, _ in _transfer_circuits(c.prefill, tokens, width) if i < c.prefill <= j}
        pairs = [
            (rows[i][a], others[j][b])
            for i, j in met
            for a in range(c.prefill_tensor)
            for b in range(c.tensor)
            if a * c.tensor // max(c.tensor, c.prefill_tensor)
            == b * c.prefill_tensor // max(c.tensor, c.prefill_tensor)
        ]
        held.append(("data", tuple((*ends, width) for a, b in pairs for ends in ((a, b), (b, a)))))
    return tuple(held)


def _group_circuits(collective: Collective, size: int) -> Iterator[list[Circuit]]:
    """Circuits of each configuration of one group, by position in the group."""
    if not collective.wavelengths:
        return
    if collective.kind in ("direct", "bruck"):
        yield from _all_to_all_circuits(collective, size)
        return
    if collective.kind in ("radix", "exchange"):
        is_exact = prod(collective.radices) == size
        yield from _radix_circuits(collective, size) if is_exact else _shift_circuits(collective, size)
        return
    width = collective.wavelengths[0]
    if collective.kind == "transfer":
        yield _transfer_circuits(*collective.radices, width)
    elif collective.kind in ("circulant", "circulant_relay"):
        yield [(a, (a + far) % size, width) for far in collective.radices for a in range(size)]
    elif collective.kind == "ring":
        yield [(i, (i + 1) % size, width) for i in range(size)]
    else:
        pairs = [(i, i + 1) for i in range(size - 1)]
        yield [(a, b, width) for a, b in pairs] + [(b, a, width) for a, b in pairs]


def _all_to_all_circuits(collective: Collective, size: int) -> Iterator[list[Circuit]]:
    """Direct: the next so many of all distances. Bruck: distances whose only digit that is not 0 is of the radix."""
    places = [prod(collective.radices[:digit]) for digit in range(len(collective.radices))]
    distances, left = [], list(range(1, size))
    for place, radix in zip(places, collective.radices, strict=True):
        relayed = [far for far in range(1, size) if far % place == 0 and far < place * radix]
        straight, left = left[: radix - 1], left[radix - 1 :]
        distances.append(straight if collective.kind == "direct" else relayed)
    digits = iter(zip(distances, collective.wavelengths, strict=True))
    for count in collective.held:
        held = [next(digits) for _ in range(count)]
        yield [(a, (a + far) % size, width) for each, width in held for far in each for a in range(size)]


def _transfer_circuits(senders: int, receivers: int, width: int) -> list[Circuit]:
    """Both ways between a sender and a receiver whose equal parts of one whole, each side's in order, overlap."""
    grains = senders * receivers
    met = {(grain // receivers, senders + grain // senders) for grain in range(grains)}
    return [(a, b, width) for a, b in met] + [(b, a, width) for a, b in met]


def _radix_circuits(collective: Collective, size: int) -> Iterator[list[Circuit]]:
    first = 0
    for num_digits in collective.held:
        circuits = []
        for digit in range(first, first + num_digits):
            radix, stride = collective.radices[digit], prod(collective.radices[:digit])
            for a in range(size):
                others = (a + (value - a // stride % radix) * stride for value in range(radix))
                circuits += [(a, b, collective.wavelengths[digit]) for b in others if b != a]
        yield circuits
        first += num_digits


def _shift_circuits(collective: Collective, size: int) -> Iterator[list[Circuit]]:
    """Radices whose product exceeds the ranks: windows of ranks, cut into one window for each value of the digit."""
    leading, ranks = [], list(range(size))
    for radix in collective.radices:
        longest = -(-len(ranks) // radix)
        num_long = radix if collective.kind == "radix" else len(ranks) - radix * (longest - 1)
        cuts = [longest] * num_long + [longest - 1] * (radix - num_long)
        starts = [sum(cuts[:value]) for value in range(radix)]
        leading.append([start - (cut < longest) for start, cut in zip(starts, cuts, strict=True)][1:])
        ranks = ranks[:longest]
    assert len(ranks) == 1
    first = 0
    for num_digits in collective.held:
        yield [
            (a, (a + ahead) % size, collective.wavelengths[digit])
            for digit in range(first, first + num_digits)
            for ahead in leading[digit]
            for a in range(size)
        ]
        first += num_digits


def wavelength_sets(width: int, available: int) -> list[int]:
    """Bit masks of all sets of `width` wavelengths below `available`."""
    return [sum(1 << w for w in chosen) for chosen in combinations(range(available), width)]


def keeps_tile_rules(circuits: tuple[Circuit, ...], wavelengths: int, max_peers: int) -> bool:
    """Whether no tile has too many wavelengths or peers in one configuration, in either direction."""
    for end in (0, 1):
        for rank in {circuit[end] for circuit in circuits}:
            own = [circuit for circuit in circuits if circuit[end] == rank]
            if sum(circuit[2] for circuit in own) > wavelengths:
                return False
            if len({circuit[1 - end] for circuit in own}) > max_peers:
                return False
    return True
