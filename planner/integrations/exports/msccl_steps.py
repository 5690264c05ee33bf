"""Steps of the threadblocks of one rank, and which of them wait for which."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from xml.etree import ElementTree

from planner.integrations.exports.msccl_buffers import Place

Position = tuple[int, int]
"""(threadblock, step)"""


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction on `count` chunks."""

    kind: str
    """s send, r receive, rrc receive and reduce, cpy copy, re reduce"""
    source: Place
    target: Place
    count: int


@dataclass(frozen=True)
class _Written:
    """A step with its number and what it waits for; `nop` steps have the wait alone."""

    step: Step
    wait: Position | None


@dataclass
class Block:
    """A threadblock: at most one peer to send to and one to receive from."""

    number: int
    send: int
    receive: int
    channel: int
    steps: list[_Written] = field(default_factory=list)
    awaited: set[int] = field(default_factory=set)
    """steps that another threadblock waits for"""

    @property
    def num_steps(self) -> int:
        return len(self.steps)

    def element(self) -> ElementTree.Element:
        ends = {"id": self.number, "send": self.send, "recv": self.receive, "chan": self.channel}
        block = ElementTree.Element("tb", {name: str(value) for name, value in ends.items()})
        for number, written in enumerate(self.steps):
            step, (wait_block, wait_step) = written.step, written.wait or (-1, -1)
            ElementTree.SubElement(block, "step", {
                "s": str(number),
                "type": step.kind,
                "srcbuf": step.source.buffer,
                "srcoff": str(step.source.offset),
                "dstbuf": step.target.buffer,
                "dstoff": str(step.target.offset),
                "cnt": str(step.count),
                "depid": str(wait_block),
                "deps": str(wait_step),
                "hasdep": str(int(number in self.awaited)),
            })  # fmt: skip
        return block


class Program:
    """All threadblocks of one rank, filled in an order in which they could run one after another."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.blocks: list[Block] = []
        self._known: dict[tuple[int, int, int], Block] = {}
        self._writer: dict[Place, Position] = {}
        self._readers: defaultdict[Place, list[Position]] = defaultdict(list)

    def block(self, send: int = -1, receive: int = -1, channel: int = 0) -> Block:
        """The threadblock with these peers."""
        key = (send, receive, channel)
        if key not in self._known:
            self._known[key] = Block(len(self.blocks), send, receive, channel)
            self.blocks.append(self._known[key])
        return self._known[key]

    def add(self, block: Block, step: Step, reads: Place | None, writes: Place | None) -> None:
        """Append a step that waits for earlier writers of what it touches, and readers of what it overwrites."""
        read = _places(reads, step.count)
        written = _places(writes, step.count)
        waits = [self._writer[place] for place in (*read, *written) if place in self._writer]
        waits += [reader for place in written for reader in self._readers[place]]
        others = self._last_of_others(block, waits)
        for wait in others[:-1]:
            block.steps.append(_Written(replace(step, kind="nop"), wait))
        here = (block.number, block.num_steps)
        block.steps.append(_Written(step, others[-1] if others else None))
        for number, awaited in others:
            self.blocks[number].awaited.add(awaited)
        for place in written:
            self._writer[place] = here
            self._readers[place] = []
        for place in read:
            if place not in written:
                self._readers[place].append(here)

    def _last_of_others(self, block: Block, waits: Iterable[Position]) -> list[Position]:
        """The latest awaited step of each other threadblock."""
        latest: dict[int, int] = {}
        for other, step in waits:
            if other != block.number:
                latest[other] = max(step, latest.get(other, -1))
        return sorted(latest.items())


def _places(first: Place | None, count: int) -> list[Place]:
    return [] if first is None else [first.shifted(offset) for offset in range(count)]
