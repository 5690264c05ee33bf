"""One plan of a collective: algorithm, radices, held groups, wavelengths; and its time in closed form."""

from dataclasses import dataclass

from costmodel.plans.ladder import Algorithm, Collective, Ladder, Order, ladder
from costmodel.plans.limits import Limits


@dataclass(frozen=True)
class Plan:
    """How a group of ranks runs a collective again and again.

    A digit is a round (two, in an algorithm that goes there and back) in which every rank has radix - 1 peers.
    A message is the whole buffer of a rank: the input of an all-reduce, reduce-scatter or all-to-all, the
    output of an all-gather or broadcast.
    """

    collective: Collective
    algorithm: Algorithm
    ranks: int
    limits: Limits
    radices: tuple[int, ...]
    """peers + 1 of each digit, the one with the farthest peers first; a ring has none, a fixed tree its fan-out + 1"""
    held: tuple[int, ...]
    """consecutive digits in each configuration"""
    wavelengths: tuple[int, ...]
    """wavelengths of each circuit of each digit; one entry for a ring or a fixed tree"""
    order: Order = "fixed"
    """alternating: successive calls go through the configurations forth and back"""
    bridged: tuple[bool, ...] = ()
    """for each configuration but the last: its last digit stays on in the next one, and sends while the rest turns"""

    @property
    def name(self) -> str:
        """Short name: "radix 4x4, 1+1 held", alternating order and bridges (~ in place of +) included."""
        if self.algorithm in ("ring", "fixed_tree"):
            fan_out = f" k{self.radices[0] - 1}" if self.radices else ""
            return f"{self.algorithm.replace('_', ' ')}{fan_out} w{self.wavelengths[0]}"
        if self.algorithm == "direct":
            return f"direct, {max(self.radices, default=1) - 1} peers, {len(self.held)} configurations"
        text = f"{self.algorithm} {'x'.join(map(str, self.radices))}"
        if len(self.held) > 1:
            joints = ["~" if bridge else "+" for bridge in self._bridges] + [""]
            groups = "".join(f"{count}{joint}" for count, joint in zip(self.held, joints, strict=True))
            text += f", {groups} held" + (", alternating" if self.order == "alternating" else "")
        return text

    @property
    def _bridges(self) -> tuple[bool, ...]:
        return self.bridged or (False,) * (len(self.held) - 1)

    @property
    def passes(self) -> int:
        """Times that a call goes through the digits: twice for a reduce-scatter and its all-gather."""
        is_twofold = self.collective == "all_reduce" and self.algorithm != "exchange"
        return 2 if is_twofold or self.algorithm == "scatter" else 1

    @property
    def num_rounds(self) -> int:
        """Rounds of one call."""
        if self.algorithm == "ring":
            return self.passes * (self.ranks - 1)
        if self.algorithm == "fixed_tree":
            return tree_depth(self.ranks, self.radices[0] - 1)
        return self.passes * len(self.radices)

    @property
    def num_changes(self) -> int:
        """Changes of configuration in one of many calls."""
        turns = len(self.held) - 1
        return self.passes * turns + (turns > 0 and self.passes == 1 and self.order == "fixed")

    def groups(self) -> list[range]:
        """Digits of each configuration."""
        starts = [sum(self.held[:number]) for number in range(len(self.held))]
        return [range(start, start + count) for start, count in zip(starts, self.held, strict=True)]

    def is_bridge(self, digit: int) -> bool:
        """Whether a digit stays on over the change that follows its configuration."""
        ends = [group.stop - 1 for group in self.groups()[:-1]]
        return digit in ends and self._bridges[ends.index(digit)]

    def time_s(self, message_bytes: float) -> float:
        """Time of one of many calls."""
        limits, rate = self.limits, self.limits.wavelength_bytes_per_s
        if self.algorithm in ("ring", "fixed_tree"):
            share = 1.0 if self.algorithm == "fixed_tree" else 1 / self.ranks
            return self.num_rounds * (limits.alpha_s + share * message_bytes / (self.wavelengths[0] * rate))
        steps = ladder(self.algorithm, self.collective, self.ranks, self.order)
        shares = shares_of(steps, self.radices)
        turn_s, total_s = limits.reconfiguration_s, 0.0
        for digit, (passes, width) in enumerate(zip(shares, self.wavelengths, strict=True)):
            rounds_s = [limits.alpha_s + share * message_bytes / (width * rate) for share in passes]
            total_s += sum(max(round_s, turn_s) if self.is_bridge(digit) else round_s for round_s in rounds_s)
        plain = sum(not bridge for bridge in self._bridges)
        total_s += plain * len(shares[0]) * turn_s if shares else 0.0
        return steps.weight * total_s + (turn_s if steps.returns and len(self.held) > 1 else 0.0)


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
