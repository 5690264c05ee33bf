"""One plan of a collective: kind, radices, held groups, wavelengths; its circuits, and its time in closed form."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from costmodel.collectives.circuits import Circuits, permutations
from costmodel.collectives.circulants import gather_load, reached, relay_load, shortest_ways
from costmodel.collectives.digits import Ints, num_relays
from costmodel.collectives.hashed_once import HashedOnce
from costmodel.collectives.ladder import Algorithm, Collective, Ladder, Order, ladder
from costmodel.collectives.limits import Limits
from costmodel.wording import counted

Message = TypeVar("Message", float, NDArray[np.float64])


@dataclass(frozen=True)
class CollectivePlan(HashedOnce):
    """How a group of ranks runs a collective again and again.

    A digit is a round (two, in an algorithm that goes there and back) in which every rank has radix - 1 peers.
    A message is the whole buffer of a rank: the input of an all-reduce, reduce-scatter or all-to-all, the
    output of an all-gather or broadcast.
    """

    collective: Collective
    kind: Algorithm
    ranks: int
    limits: Limits
    radices: tuple[int, ...]
    """peers + 1 of each digit; a ring has none, a fixed tree its fan-out + 1, a circulant its strides. Where they
    multiply to the ranks, the peers of the first digit are the nearest; otherwise, as the product then exceeds the
    ranks, the farthest"""
    held: tuple[int, ...]
    """consecutive digits in each configuration"""
    wavelengths: tuple[int, ...]
    """wavelengths of each circuit of each digit; one entry for a ring, a fixed tree or a circulant"""
    order: Order = "fixed"
    """alternating: successive calls go through the configurations forth and back"""
    bridged: tuple[bool, ...] = ()
    """for each configuration but the last: its last digit stays on in the next one, and sends while the rest turns"""

    __hash__ = HashedOnce.__hash__

    @property
    def name(self) -> str:
        """Short name: "radix 4x4, 1+1 held", alternating order and bridges (~ in place of +) included."""
        if self.kind in ("ring", "fixed_tree"):
            fan_out = f" k{self.radices[0] - 1}" if self.radices else ""
            return f"{self.kind.replace('_', ' ')}{fan_out} w{self.wavelengths[0]}"
        if self.is_circulant:
            return f"{self.kind.replace('_', ' ')} {'+'.join(map(str, self.radices))} w{self.wavelengths[0]}"
        if self.kind == "direct":
            return f"direct, {max(self.radices, default=1) - 1} peers, {counted(len(self.held), 'configuration')}"
        text = f"{self.kind} {'x'.join(map(str, self.radices))}"
        if len(self.held) > 1:
            joints = ["~" if bridge else "+" for bridge in self._bridges] + [""]
            groups = "".join(f"{count}{joint}" for count, joint in zip(self.held, joints, strict=True))
            text += f", {groups} held" + (", alternating" if self.order == "alternating" else "")
        return text

    @property
    def node_bytes_per_s(self) -> float:
        """It has circuits of its own, also inside a server."""
        return 0.0

    @property
    def _bridges(self) -> tuple[bool, ...]:
        return self.bridged or (False,) * (len(self.held) - 1)

    @property
    def passes(self) -> int:
        """Times that a call goes through the digits: twice for a reduce-scatter and its all-gather."""
        is_twofold = self.collective == "all_reduce" and self.kind != "exchange"
        return 2 if is_twofold or self.kind == "scatter" else 1

    @property
    def is_circulant(self) -> bool:
        """Whether its circuits all lead a few fixed numbers of ranks ahead, and are used together."""
        return self.kind in ("circulant", "circulant_relay")

    @property
    def has_halves(self) -> bool:
        """Whether it is a reduce-scatter and an all-gather over the same circuits, of which either may be called."""
        return self.kind in ("ring", "radix", "circulant") and len(self.held) == 1

    @property
    def num_rounds(self) -> int:
        """Rounds of one call."""
        if self.kind == "ring":
            return self.passes * (self.ranks - 1)
        if self.kind == "fixed_tree":
            return tree_depth(self.ranks, self.radices[0] - 1)
        if self.is_circulant:
            return self.passes * len(reached(self.ranks, self.radices))
        return self.passes * len(self.radices)

    @property
    def num_changes(self) -> int:
        """Changes of configuration in one of many calls."""
        turns = len(self.held) - 1
        return self.passes * turns + (turns > 0 and self.passes == 1 and self.order == "fixed")

    def groups(self) -> list[range]:
        """Digits of each configuration, a bridge only in its first."""
        starts = [sum(self.held[:number]) for number in range(len(self.held))]
        return [range(start, start + count) for start, count in zip(starts, self.held, strict=True)]

    def is_bridge(self, digit: int) -> bool:
        """Whether a digit stays on over the change that follows its configuration."""
        ends = [group.stop - 1 for group in self.groups()[:-1]]
        return digit in ends and self._bridges[ends.index(digit)]

    def downward(self) -> Iterator[tuple[int, int]]:
        """(digit, configuration) from the first digit on; a bridge sends while the next configuration is set up."""
        for number, group in enumerate(self.groups()):
            for digit in group:
                yield digit, number + self.is_bridge(digit)

    def upward(self) -> Iterator[tuple[int, int]]:
        """(digit, configuration) from the last digit on; a bridge sends while its own configuration is set up."""
        for number, group in reversed(list(enumerate(self.groups()))):
            for digit in reversed(group):
                yield digit, number

    def configurations(self) -> tuple[Circuits, ...]:
        """Circuits (source rank, destination rank, wavelengths) of each configuration, by digit and peer."""
        return self._circuits

    def offsets(self) -> tuple[tuple[int, ...], ...]:
        """First wavelength of each circuit, as `configurations`: each permutation of the ranks has its own light."""
        return tuple(
            tuple(first for first, _ in _side_by_side(held) for _ in range(self.ranks)) for held in self._permutations
        )

    @cached_property
    def _circuits(self) -> tuple[Circuits, ...]:
        return tuple(
            tuple((rank, to, width) for image, width in held for rank, to in enumerate(image.tolist()))
            for held in self._permutations
        )

    @cached_property
    def _permutations(self) -> list[list[tuple[Ints, int]]]:
        """(image of each rank, wavelengths) of each permutation of each configuration."""
        peers = permutations(self.kind, self.ranks, self.radices)
        digits = [list(group) for group in self.groups()] if self.radices else [list(range(len(peers)))]
        for held, following in pairwise(digits):
            following[:0] = [held[-1]] if self.is_bridge(held[-1]) else []
        return [[(image, self.wavelengths[digit]) for digit in held for image in peers[digit]] for held in digits]

    @cached_property
    def latency_s(self) -> float:
        """Fixed time of all rounds and changes of one of many calls, nothing hidden."""
        return self.num_rounds * self.limits.alpha_s + self.num_changes * self.limits.reconfiguration_s

    @cached_property
    def seconds_per_byte(self) -> float:
        """Time that each byte of the message adds."""
        weight, shares = self._shares
        per_wavelength = sum(sum(passes) / width for passes, width in zip(shares, self.wavelengths, strict=True))
        return weight * per_wavelength / self.limits.wavelength_bytes_per_s

    @cached_property
    def _shares(self) -> tuple[float, list[tuple[float, ...]]]:
        """Passes of one call / passes counted, and the share of the message on a circuit of each digit in each pass."""
        if self.kind in ("ring", "fixed_tree"):
            return 1.0, [(self.num_rounds / (self.ranks if self.kind == "ring" else 1),)]
        if self.kind == "circulant":
            return 1.0, [(float(self.passes * gather_load(self.ranks, self.radices) / self.ranks),)]
        if self.kind == "circulant_relay":
            return 1.0, [(float(relay_load(self.ranks, self.radices) / self.ranks),)]
        steps = ladder(self.kind, self.collective, self.ranks, self.order)
        return steps.weight, shares_of(steps, self.radices)

    @property
    def bytes_per_byte(self) -> float:
        """Bytes that a rank sends per byte of the message, on average over the ranks."""
        if self.kind == "exchange":
            return float(sum(radix - 1 for radix in self.radices))
        if self.kind == "bruck":
            return num_relays(self.ranks, self.radices) / self.ranks
        if self.kind == "circulant_relay":
            ways = shortest_ways(self.ranks, self.radices).values()
            return sum(len(each[0]) for each in ways) / self.ranks
        return self.passes * (self.ranks - 1) / self.ranks

    @property
    def near_share(self) -> float:
        """0: the circuits of a group are priced alike wherever they lie."""
        return 0.0

    def time_s(self, message_bytes: Message) -> Message:
        """Time of one of many calls: a bridge hides the change, or the change hides it."""
        limits, (weight, shares) = self.limits, self._shares
        total_s = self.latency_s + self.seconds_per_byte * message_bytes
        for digit in filter(self.is_bridge, range(len(self.radices)) if any(self.bridged) else ()):
            rate = self.wavelengths[digit] * limits.wavelength_bytes_per_s
            for share in shares[digit]:
                hidden_s = np.minimum(limits.alpha_s + share * message_bytes / rate, limits.reconfiguration_s)
                total_s = total_s - weight * hidden_s
        return total_s


def shares_of(steps: Ladder, radices: tuple[int, ...]) -> list[tuple[float, ...]]:
    """Share of the message on a circuit of each digit in each pass; ValueError where the radices do not fit."""
    state, shares = steps.start, []
    for radix in radices:
        step = steps.step(state, radix)
        if step is None:
            raise ValueError(f"radices: {radix} does not fit what is left of {radices}; let them just reach the ranks")
        state, passes = step
        shares.append(passes)
    if state != steps.end:
        raise ValueError(f"radices: {radices} do not reach all ranks; add a digit or raise one")
    return shares


def tree_depth(ranks: int, fan_out: int) -> int:
    """Levels below the root of a complete tree with at least that many ranks."""
    depth, reached, level = 0, 1, 1
    while reached < ranks:
        level *= fan_out
        reached += level
        depth += 1
    return depth


def _side_by_side(held: list[tuple[Ints, int]]) -> Iterator[tuple[int, int]]:
    """(first wavelength, wavelengths) of each permutation that is on at the same time."""
    first = 0
    for _, width in held:
        yield first, width
        first += width
