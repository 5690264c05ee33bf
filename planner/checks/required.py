"""The circuits that a configuration needs, by rank."""

from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

from costmodel.configuration import Collective, Configuration
from costmodel.mappings import DIMENSIONS

Links = dict[tuple[int, int], int]
"""wavelengths of the circuit from one rank to another, in one configuration of circuits"""


def groups(configuration: Configuration, dimension: str) -> list[list[int]]:
    """Ranks of each group along a dimension.

    rank = ((data x pipeline + stage) x context + context index) x tensor + tensor index; context ranks share the
    data group, and expert groups are consecutive parts of the data index.
    """
    c = configuration
    shape = (c.data // c.expert, c.expert, c.pipeline, c.context, c.tensor)
    axes = {"data": (0, 1, 3), "expert": (1,), "pipeline": (2,), "context": (3,), "tensor": (4,)}[dimension]
    grid = np.moveaxis(np.arange(c.num_devices).reshape(shape), axes, range(5 - len(axes), 5))
    lines: list[list[int]] = grid.reshape(-1, prod(shape[axis] for axis in axes)).tolist()
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
