"""The circuits that a configuration needs, by rank."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from math import ceil, prod
from typing import get_args

import numpy as np

from costmodel.fabrics.group_plans import OverLinks
from costmodel.parallelism.configuration import Collective, Configuration
from costmodel.parallelism.mappings import DIMENSIONS
from planner.checks.circulants import has_sound_strides

Links = dict[tuple[int, int], int]
"""wavelengths of the circuit from one rank to another, in one configuration of circuits"""


def groups(configuration: Configuration, dimension: str) -> list[list[int]]:
    """Ranks of each group along a dimension.

    rank = ((data x pipeline + stage) x context + context index) x tensor + tensor index; context ranks share the
    data group, and expert groups are consecutive parts of the data index. Two pools with degrees of their own have the
    ranks of one after those of the other; these are the groups of the second.
    """
    c = configuration
    if c.prefill_tensor:
        first = c.prefill * c.prefill_tensor
        return _cache_groups(c, first) if dimension == "data" else _rows(c, dimension, first)
    shape = (c.data // c.expert, c.expert, c.pipeline, c.context, c.tensor)
    axes = {"data": (0, 1, 3), "expert": (1,), "pipeline": (2,), "context": (3,), "tensor": (4,)}[dimension]
    grid = np.moveaxis(np.arange(c.num_devices).reshape(shape), axes, range(5 - len(axes), 5))
    lines: list[list[int]] = grid.reshape(-1, prod(shape[axis] for axis in axes)).tolist()
    return lines


def prompt_groups(configuration: Configuration, dimension: str) -> list[list[int]]:
    """Ranks of each group of the first of two pools with degrees of their own."""
    c = configuration
    own = c.model_copy(update={"data": c.prefill, "tensor": c.prefill_tensor, "expert": c.prefill_expert, "prefill": 0})
    return _rows(own, dimension, 0)


def _rows(c: Configuration, dimension: str, first: int) -> list[list[int]]:
    """Groups along tensor or expert of the pool whose ranks follow the first so many, with the degrees `c` has."""
    replicas = c.data - c.prefill
    ranks = [[first + replica * c.tensor + column for column in range(c.tensor)] for replica in range(replicas)]
    if dimension == "tensor":
        return ranks
    if dimension != "expert":
        return [[rank] for row in ranks for rank in row]
    starts = range(0, replicas, c.expert)
    return [[row[column] for row in ranks[i : i + c.expert]] for i in starts for column in range(c.tensor)]


def _cache_groups(c: Configuration, first: int) -> list[list[int]]:
    """Ranks that hold the same part of caches: those of prompts, replica by replica, then those of tokens."""
    parts = min(c.tensor, c.prefill_tensor)
    found: list[list[int]] = [[] for _ in range(parts)]
    for rank in range(c.num_devices):
        width, place = (c.prefill_tensor, rank) if rank < first else (c.tensor, rank - first)
        found[place % width * parts // width].append(rank)
    return found


@lru_cache(maxsize=4096)
def groups_in_racks(configuration: Configuration, dimension: str) -> list[list[int]]:
    """The same, groups that lie in several racks as one group in each; found once of equal configurations, so that
    nobody may change them."""
    lines = groups(configuration, dimension)
    racks = configuration.data_collective.racks if dimension == "data" else 1
    size = max(1, len(lines[0]) // racks)
    whole = min(size * racks, len(lines[0]))
    return [line[first : first + size] for line in lines for first in range(0, whole, size)]


def digits_of(rank: int, radices: tuple[int, ...]) -> tuple[int, ...]:
    """Digits of a rank in mixed radix, the fastest first."""
    digits = []
    for radix in radices:
        rank, digit = divmod(rank, radix)
        digits.append(digit)
    return tuple(digits)


def sends_packets(collective: Collective) -> bool:
    """True if a collective needs no circuits: nothing is sent, or packets over electrical switches."""
    if collective.kind in ("none", "switched", "tree", *get_args(OverLinks)):
        return True
    return collective.kind in ("ring", "transfer", "circulant") and not collective.wavelengths


def is_sound(collective: Collective, ranks: int) -> bool:
    """True if a collective over circuits has radices, held digits and wavelengths that fit the ranks."""
    if sends_packets(collective):
        return True
    if collective.kind in ("ring", "line"):
        return len(collective.wavelengths) == 1
    if collective.kind == "transfer":
        is_known = len(collective.wavelengths) == 1 and len(collective.radices) in (2, 4)
        return is_known and sum(sides_of(collective)) == ranks
    if collective.kind in ("circulant", "circulant_relay"):
        return has_sound_strides(collective, ranks)
    if collective.kind not in ("radix", "exchange", "direct", "bruck"):
        return False
    if not sum(collective.held) == len(collective.radices) == len(collective.wavelengths) or 0 in collective.held:
        return False
    if collective.kind in ("direct", "bruck"):
        return min(collective.radices, default=0) > 1 and sorted(distances_of(collective, ranks)) == [*range(1, ranks)]
    if collective.order == "alternating" and (collective.kind == "radix" or len(collective.held) == 1):
        return False
    if prod(collective.radices) == ranks:
        return True
    last, is_cut = ranks, True
    for length, window, radix in windows(collective.radices, ranks):
        last, is_cut = window, is_cut and radix > 1 and (radix - 1) * window < length
    return is_cut and last == 1 and all(len(set(ahead)) == len(ahead) for ahead in _ahead_at_once(collective, ranks))


def distances_of(collective: Collective, ranks: int) -> list[int]:
    """Ranks ahead of a destination that an all-to-all serves: each once, if it is sound."""
    if collective.kind == "direct":
        return [far for each in ahead_of(collective, ranks) for far in each]
    return [*range(1, ranks)] if prod(collective.radices) >= ranks > prod(collective.radices[:-1]) else []


def ahead_of(collective: Collective, ranks: int) -> list[list[int]]:
    """How many ranks ahead the circuits of each round of an all-to-all lead.

    direct: so many destinations as the round has peers, the nearest first. bruck: multiples of the product of the
    radices before, since parts travel one digit of their distance at a time.
    """
    found, first, stride = [], 1, 1
    for radix in collective.radices:
        straight = range(first, first + radix - 1)
        relayed = range(stride, min(stride * radix, ranks), stride)
        found.append([*(straight if collective.kind == "direct" else relayed)])
        first, stride = first + radix - 1, stride * radix
    return found


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


def sides_of(collective: Collective) -> tuple[int, int]:
    """Places of a group that send caches, and that take them: a replica has one each, or as many as is said."""
    senders, receivers, *each = collective.radices
    return (senders * each[0], receivers * each[1]) if each else (senders, receivers)


def handed_over(collective: Collective) -> list[tuple[int, int]]:
    """Places of a group of which the first hands caches to the second.

    Each sender makes an equal part of all caches, each receiver takes one, both in order: a pair has some in common.
    """
    senders, receivers, *each = collective.radices
    sending, taking = each or (1, 1)
    return [
        (a * sending + i, senders * sending + b * taking + j)
        for a, b in product(range(senders), range(receivers))
        if max(a * receivers, b * senders) < min((a + 1) * receivers, (b + 1) * senders)
        for i, j in product(range(sending), range(taking))
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
        pairs = [(i, i + 1) for i in range(ranks - 1)] if is_line else handed_over(collective)
        return ({pair: collective.wavelengths[0] for a, b in pairs for pair in ((a, b), (b, a))},)
    if collective.kind in ("circulant", "circulant_relay"):
        width = collective.wavelengths[0]
        return ({(a, (a + far) % ranks): width for a in range(ranks) for far in collective.radices},)
    holder = [number for number, count in enumerate(collective.held) for _ in range(count)]
    links: tuple[Links, ...] = tuple({} for _ in collective.held)
    if collective.kind in ("direct", "bruck"):
        for number, width, ahead in zip(holder, collective.wavelengths, ahead_of(collective, ranks), strict=True):
            links[number].update({(a, (a + far) % ranks): width for a in range(ranks) for far in ahead})
        return links
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
        lines = groups_in_racks(configuration, dimension)
        if not is_sound(collective, len(lines[0])):
            return None
        held = [_over_groups(links, lines) for links in group_links(collective, len(lines[0]))]
        if collective.prefill is not None:
            first = prompt_groups(configuration, dimension)
            if not is_sound(collective.prefill, len(first[0])):
                return None
            others = [_over_groups(links, first) for links in group_links(collective.prefill, len(first[0]))]
            if max(len(held), len(others)) > 1:
                return None
            held = [dict(pair for links in (*others, *held) for pair in links.items())] if held or others else []
        required += [(dimension, union) for union in held]
    return required


def _over_groups(links: Links, lines: list[list[int]]) -> Links:
    """Circuits between places of a group, on every group."""
    return {(line[a], line[b]): width for line in lines for (a, b), width in links.items()}
