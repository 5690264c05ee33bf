"""Executable all-reduce plans of one group of ranks on a wavelength-switched tile fabric.

A plan is an algorithm and its circuits. Ranks are numbers in mixed radix, digit 0 varying fastest; in the
round of digit i the ranks that differ only in digit i form complete graphs. Consecutive digits may share
one configuration, if the tile has the wavelengths and the peers for all their circuits at once. Source:
Vijaya Kumar et al., Chip-to-chip photonic connectivity in multi-accelerator servers for ML, section 4,
extended from radices 2 and 4 to every ordered factorization, and from one round per configuration to any.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, product
from operator import mul
from typing import Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Kind: TypeAlias = Literal["ring", "radix", "exchange"]
Circuit: TypeAlias = tuple[int, int, int]
Message = TypeVar("Message", float, NDArray[np.float64])


@dataclass(frozen=True, slots=True)
class CollectivePlan:
    """One way to all-reduce over a group with circuits that are held or switched."""

    kind: Kind
    """ring; radix, a reduce-scatter then an all-gather in mixed radix; exchange of whole messages"""
    ranks: int
    radices: tuple[int, ...]
    """radix of each digit, their product being `ranks`; empty for a ring"""
    held: tuple[int, ...]
    """number of consecutive digits in each configuration; (1,) for a ring"""
    wavelengths: tuple[int, ...]
    """wavelengths of each circuit of each digit; one entry for a ring"""
    latency_s: float
    """fixed time of all rounds and reconfigurations of one repeated all-reduce"""
    seconds_per_byte: float
    num_changes: int
    """changes of configuration in one repeated all-reduce"""

    def time_s(self, message_bytes: Message) -> Message:
        """Time of one repeated all-reduce, latency_s + seconds_per_byte * S, shaped as `message_bytes`."""
        return self.latency_s + self.seconds_per_byte * message_bytes

    @property
    def bytes_per_byte(self) -> float:
        """Bytes that one rank sends per byte of the message."""
        if self.kind == "exchange":
            return float(sum(radix - 1 for radix in self.radices))
        return 2 * (self.ranks - 1) / self.ranks

    @property
    def name(self) -> str:
        """Short name, unique within a family: "ring w16", "radix 8", "exchange 4x2x2, 2+1 held"."""
        if self.kind == "ring":
            return f"ring w{self.wavelengths[0]}"
        radices = f"{self.kind} {'x'.join(map(str, self.radices))}"
        return radices if len(self.radices) == 1 else f"{radices}, {'+'.join(map(str, self.held))} held"

    def configurations(self) -> tuple[tuple[Circuit, ...], ...]:
        """Circuits (source rank, destination rank, wavelengths) of each configuration, ranks 0 to n - 1."""
        if self.kind == "ring":
            return (tuple(self._ring_circuits()),)
        digits = iter(range(len(self.radices)))
        groups = [[next(digits) for _ in range(num_digits)] for num_digits in self.held]
        return tuple(tuple(c for digit in group for c in self._digit_circuits(digit)) for group in groups)

    def _ring_circuits(self) -> Iterator[Circuit]:
        if self.ranks > 1:
            for rank in range(self.ranks):
                yield rank, (rank + 1) % self.ranks, self.wavelengths[0]

    def _digit_circuits(self, digit: int) -> Iterator[Circuit]:
        """Circuits between all ranks that differ only in one digit, both directions."""
        radix, wavelengths = self.radices[digit], self.wavelengths[digit]
        stride = list(accumulate(self.radices, mul, initial=1))[digit]
        for rank, value in product(range(self.ranks), range(radix)):
            own = rank // stride % radix
            if value != own:
                yield rank, rank + (value - own) * stride, wavelengths


class _Digits(NamedTuple):
    """Digits of a plan or of one configuration of it, and the link time they need."""

    radices: tuple[int, ...]
    held: tuple[int, ...]
    wavelengths: tuple[int, ...]
    share: float
    """sum over rounds of message fraction sent on each circuit / wavelengths of the circuit"""


@cache
def _factorizations(ranks: int, peers: int) -> tuple[tuple[int, ...], ...]:
    """Ordered factors >= 2 of `ranks` whose complete graphs need at most `peers` peers, sum of r - 1."""
    if ranks == 1:
        return ((),)
    return tuple(
        (radix, *rest)
        for radix in range(2, min(ranks, peers + 1) + 1)
        if ranks % radix == 0
        for rest in _factorizations(ranks // radix, peers - radix + 1)
    )


@cache
def _split(radices: tuple[int, ...], wavelengths: int, is_exchange: bool) -> tuple[float, tuple[int, ...]]:
    """Least share of digits in one configuration, and its wavelengths w_i, whole numbers.

    Minimizes sum_i 1/w_i (exchange) or sum_i 1/(r_1 ... r_i w_i) under sum_i (r_i - 1) w_i <= wavelengths,
    exactly: the first digit tries every w, the rest is the same problem with fewer wavelengths.
    """
    peers, rest = radices[0] - 1, radices[1:]
    scale = 1.0 if is_exchange else 1.0 / radices[0]
    if not rest:
        most = wavelengths // peers
        return scale / most, (most,)
    spare = wavelengths - sum(radix - 1 for radix in rest)
    choices = []
    for width in range(1, spare // peers + 1):
        share, widths = _split(rest, wavelengths - peers * width, is_exchange)
        choices.append((scale / width + (share if is_exchange else scale * share), (width, *widths)))
    return min(choices)


@lru_cache(maxsize=256)
def _digit_families(ranks: int, wavelengths: int, max_peers: int, is_exchange: bool) -> tuple[_Digits, ...]:
    """All radices x contiguous held groups of a group size, each with its best wavelengths.

    The first configuration reduces over a factor p of the ranks; what follows is the family of ranks / p,
    whose messages are 1/p as long unless whole messages are exchanged.
    """
    if ranks == 1:
        return (_Digits((), (), (), 0.0),)
    found: list[_Digits] = []
    for factor in range(2, ranks + 1):
        if ranks % factor:
            continue
        later = _digit_families(ranks // factor, wavelengths, max_peers, is_exchange)
        scale = 1.0 if is_exchange else 1.0 / factor
        for radices in _factorizations(factor, min(max_peers, wavelengths)):
            share, widths = _split(radices, wavelengths, is_exchange)
            first = (len(radices),)
            found += [
                _Digits(radices + d.radices, first + d.held, widths + d.wavelengths, share + scale * d.share)
                for d in later
            ]
    return tuple(found)


def _ring_plan(ranks: int, width: int, alpha_s: float, wavelength_bytes_per_s: float) -> CollectivePlan:
    """A ring of circuits of `width` wavelengths: 2(n - 1) steps of S/n, nothing to switch."""
    steps = 2 * (ranks - 1)
    seconds_per_byte = steps / ranks / (width * wavelength_bytes_per_s)
    return CollectivePlan("ring", ranks, (), (1,), (width,), steps * alpha_s, seconds_per_byte, 0)


@lru_cache(maxsize=32)
def _switched_plans(
    ranks: int,
    wavelengths: int,
    max_peers: int,
    alpha_s: float,
    reconfiguration_s: float,
    wavelength_bytes_per_s: float,
) -> tuple[CollectivePlan, ...]:
    """All plans that are not rings. Radix does each round twice and turns back; exchange starts over."""
    plans: list[CollectivePlan] = []
    kinds: tuple[Kind, Kind] = ("radix", "exchange")
    for kind, passes in zip(kinds, (2, 1), strict=True):
        for digits in _digit_families(ranks, wavelengths, max_peers, kind == "exchange"):
            turns = len(digits.held) - 1
            num_changes = 2 * turns if kind == "radix" else turns + (turns > 0)
            latency_s = passes * len(digits.radices) * alpha_s + num_changes * reconfiguration_s
            seconds_per_byte = passes * digits.share / wavelength_bytes_per_s
            plans.append(CollectivePlan(kind, ranks, *digits[:3], latency_s, seconds_per_byte, num_changes))
    return tuple(plans)


def all_reduce_plans(
    ranks: int,
    *,
    wavelengths: int,
    max_peers: int,
    alpha_s: float,
    reconfiguration_s: float,
    wavelength_bytes_per_s: float,
    ring_widths: Iterable[int] | None = None,
) -> tuple[CollectivePlan, ...]:
    """The family of all-reduce plans of `ranks` tiles, each with `wavelengths` and `max_peers` per direction.

    Rings of each of `ring_widths` wavelengths (all of them, unless given), then, for radix and exchange,
    all ordered factorizations of `ranks` x contiguous held groups in which, per configuration,
    sum (r_i - 1) w_i <= wavelengths and sum (r_i - 1) <= max_peers. Of the whole-number w_i those with the
    least seconds per byte are kept, as the latency depends on none. Ranks with a prime factor that needs
    more peers than allowed have rings only. Rates are bytes/s of one wavelength in one direction.
    """
    widths = (wavelengths,) if ring_widths is None else tuple(ring_widths)
    if ranks < 1 or max_peers < 1 or not all(1 <= width <= wavelengths for width in widths):
        raise ValueError("ranks, max_peers, ring_widths: at least 1, and no ring wider than wavelengths")
    rings = [_ring_plan(ranks, width, alpha_s, wavelength_bytes_per_s) for width in widths]
    if ranks == 1:
        return tuple(rings)
    switched = _switched_plans(ranks, wavelengths, max_peers, alpha_s, reconfiguration_s, wavelength_bytes_per_s)
    return (*rings, *switched)


def pareto_plans(plans: Iterable[CollectivePlan]) -> tuple[CollectivePlan, ...]:
    """Plans that no other equals or beats in both latency and seconds per byte, by increasing latency.

    Of equal plans the first is kept; seconds per byte within 1e-12 are equal.
    """
    kept: list[CollectivePlan] = []
    for plan in sorted(plans, key=lambda p: (p.latency_s, p.seconds_per_byte)):
        if not kept or plan.seconds_per_byte < kept[-1].seconds_per_byte * (1 - 1e-12):
            kept.append(plan)
    return tuple(kept)


def best_plan(plans: Sequence[CollectivePlan], message_bytes: float) -> CollectivePlan:
    """The plan with the least time for a message; the first of equals."""
    return min(plans, key=lambda plan: plan.time_s(message_bytes))
