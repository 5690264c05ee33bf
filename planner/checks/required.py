"""The circuits that a configuration needs, by rank."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from math import ceil, prod

import numpy as np

from costmodel.parallelism.configuration import Collective, Configuration
from costmodel.parallelism.mappings import DIMENSIONS

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
    """True if a collective needs no circuits: nothing is sent, or packets over electrical switches."""
    if collective.kind in ("none", "switched", "tree", "bucket", "rotated", "chain", "routed"):
        return True
    return collective.kind in ("ring", "transfer") and not collective.wavelengths


def is_sound(collective: Collective, ranks: int) -> bool:
    """True if a collective over circuits has radices, held digits and wavelengths that fit the ranks."""
    if sends_packets(collective):
        return True
    if collective.kind in ("ring", "line"):
        return len(collective.wavelengths) == 1
    if collective.kind == "transfer":
        return len(collective.wavelengths) == 1 and len(collective.radices) == 2 and sum(collective.radices) == ranks
    if collective.kind not in ("radix", "exchange"):
        return False
    if not sum(collective.held) == len(collective.radices) == len(collective.wavelengths) or 0 in collective.held:
        return False
    if collective.order == "alternating" and (collective.kind == "radix" or len(collective.held) == 1):
        return False
    if prod(collective.radices) == ranks:
        return True
    last, is_cut = ranks, True
    for length, window, radix in windows(collective.radices, ranks):
        last, is_cut = window, is_cut and radix > 1 and (radix - 1) * window < length
    return is_cut and last == 1 and all(len(set(ahead)) == len(ahead) for ahead in _ahead_at_once(collective, ranks))


def windows(radices: tuple[int, ...], ranks: int) -> list[tuple[int, int, int]]:
    """(ranks of a window, most ranks of its parts, parts) for each radix, where these do not multiply to the ranks."""
    found, length = [], ranks
    for radix in radices:
        window = ceil(length / radix)
        found.append((length, window, radix))
        length = window
    return found


def peers_ahead(kind: str, length: int, window: int, radix: int) -> list[tuple[int, bool]]:
    """How many ranks ahead the circuits of one radix lead, and whether sums without the own rank are sent.

    Parts of messages go to the rank whose window begins there. Sums of `window` ranks end at the rank itself; as
    many as needed are replaced by sums without the own rank, one shorter, of the rank before.
    """
    if kind == "radix":
        return [(part * window, False) for part in range(1, radix)]
    too_many, start, found = radix * window - length, 0, []
    for part in range(radix):
        is_short = part >= radix - too_many
        found.append((start - is_short, is_short))
        start += window - is_short
    return found[1:]


def _ahead_at_once(collective: Collective, ranks: int) -> Iterator[list[int]]:
    """How many ranks ahead the circuits of each configuration lead."""
    steps = iter(windows(collective.radices, ranks))
    for count in collective.held:
        yield [far for _ in range(count) for far, _ in peers_ahead(collective.kind, *next(steps))]


def handed_over(senders: int, receivers: int) -> list[tuple[int, int]]:
    """Places of a group of which the first hands caches to the second.

    Each sender makes an equal part of all caches, each receiver takes one, both in order: a pair has some in common.
    """
    return [
        (a, senders + b)
        for a, b in product(range(senders), range(receivers))
        if max(a * receivers, b * senders) < min((a + 1) * receivers, (b + 1) * senders)
    ]


@lru_cache(maxsize=1024)
def group_links(collective: Collective, ranks: int) -> tuple[Links, ...]:
    """Circuits of each configuration of one group, for a collective that is sound."""
    if sends_packets(collective):
        return ()
    if collective.kind == "ring":
        return ({(i, (i + 1) % ranks): collective.wavelengths[0] for i in range(ranks)},)
    if collective.kind in ("line", "transfer"):
        is_line = collective.kind == "line"
        pairs = [(i, i + 1) for i in range(ranks - 1)] if is_line else handed_over(*collective.radices)
        return ({pair: collective.wavelengths[0] for a, b in pairs for pair in ((a, b), (b, a))},)
    holder = [number for number, count in enumerate(collective.held) for _ in range(count)]
    links: tuple[Links, ...] = tuple({} for _ in collective.held)
    if prod(collective.radices) > ranks:
        steps = windows(collective.radices, ranks)
        for number, width, step in zip(holder, collective.wavelengths, steps, strict=True):
            ahead = [far for far, _ in peers_ahead(collective.kind, *step)]
            links[number].update({(a, (a + far) % ranks): width for a in range(ranks) for far in ahead})
        return links
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
