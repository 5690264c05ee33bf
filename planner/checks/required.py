"""The circuits that a configuration needs, by rank."""

from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

from costmodel.candidates import DIMENSIONS
from costmodel.configuration import Collective, Configuration

Links = dict[tuple[int, int], int]
"""wavelengths of the circuit from one rank to another, in one configuration of circuits"""


def groups(configuration: Configuration, dimension: str) -> list[list[int]]:
    """Ranks of each group along a dimension; rank = (data x pipeline + stage) x tensor + tensor index."""
    shape = configuration.data, configuration.pipeline, configuration.tensor
    grid = np.arange(configuration.num_devices).reshape(shape)
    axis = ("data", "pipeline", "tensor").index(dimension)
    lines: list[list[int]] = np.moveaxis(grid, axis, -1).reshape(-1, shape[axis]).tolist()
    return lines


def digits_of(rank: int, radices: tuple[int, ...]) -> tuple[int, ...]:
    """Digits of a rank in mixed radix, the fastest first."""
    digits = []
    for radix in radices:
        rank, digit = divmod(rank, radix)
        digits.append(digit)
    return tuple(digits)


def sends_packets(collective: Collective) -> bool:
    """Whether a collective needs no circuits: nothing is sent, or packets over electrical switches."""
    if collective.kind in ("none", "switched", "tree"):
        return True
    return collective.kind == "ring" and not collective.wavelengths


def is_sound(collective: Collective, ranks: int) -> bool:
    """Whether a collective over circuits has radices, held digits and wavelengths that fit the ranks."""
    if sends_packets(collective):
        return True
    if collective.kind in ("ring", "line"):
        return len(collective.wavelengths) == 1
    if collective.kind not in ("radix", "exchange"):
        return False
    whole = sum(collective.held) == len(collective.radices) == len(collective.wavelengths)
    return whole and all(count > 0 for count in collective.held) and prod(collective.radices) == ranks


@lru_cache(maxsize=1024)
def group_links(collective: Collective, ranks: int) -> tuple[Links, ...]:
    """Circuits of each configuration of one group, for a collective that is sound."""
    if sends_packets(collective):
        return ()
    if collective.kind == "ring":
        return ({(i, (i + 1) % ranks): collective.wavelengths[0] for i in range(ranks)},)
    if collective.kind == "line":
        pairs = [(i, i + 1) for i in range(ranks - 1)]
        return ({pair: collective.wavelengths[0] for a, b in pairs for pair in ((a, b), (b, a))},)
    holder = [number for number, count in enumerate(collective.held) for _ in range(count)]
    links: tuple[Links, ...] = tuple({} for _ in collective.held)
    digits = [digits_of(rank, collective.radices) for rank in range(ranks)]
    for a, b in product(range(ranks), repeat=2):
        differing = [i for i, (x, y) in enumerate(zip(digits[a], digits[b], strict=True)) if x != y]
        if len(differing) == 1:
            links[holder[differing[0]]][a, b] = collective.wavelengths[differing[0]]
    return links


def required_links(configuration: Configuration) -> list[tuple[str, Links]] | None:
    """Dimension and circuits of each configuration of a job in order; None where collectives are unsound."""
    required: list[tuple[str, Links]] = []
    for dimension in DIMENSIONS:
        collective: Collective = getattr(configuration, f"{dimension}_collective")
        lines = groups(configuration, dimension)
        if not is_sound(collective, len(lines[0])):
            return None
        for links in group_links(collective, len(lines[0])):
            union = {(line[a], line[b]): width for line in lines for (a, b), width in links.items()}
            required.append((dimension, union))
    return required
