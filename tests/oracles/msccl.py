"""Run MSCCL-XML, from the format alone: threadblocks that advance step by step and wait for each other.

Nothing is buffered on the way: a send and its receive happen together or not at all, which is harsher than any real
channel. Among the steps that could run next one is picked at random.
"""

from dataclasses import dataclass, field
from random import Random
from xml.etree import ElementTree

Buffers = dict[str, list[int | None]]
"""chunks of the buffers i, o and s of one rank"""


@dataclass
class Threadblock:
    """One threadblock; `done` steps are behind it."""

    rank: int
    number: int
    send: int
    receive: int
    channel: int
    steps: list[dict[str, str]]
    done: int = 0

    @property
    def step(self) -> dict[str, str] | None:
        return self.steps[self.done] if self.done < len(self.steps) else None


@dataclass
class Machine:
    """All ranks of one algorithm."""

    buffers: list[Buffers]
    blocks: list[dict[int, Threadblock]] = field(default_factory=list)

    def is_free(self, block: Threadblock) -> bool:
        """Whether the next step waits for no other threadblock."""
        step = block.step
        if step is None:
            return False
        other = int(step["depid"])
        if other < 0:
            return True
        awaited = self.blocks[block.rank][other]
        assert awaited.steps[int(step["deps"])]["hasdep"] == "1", "a step is waited for that does not say so"
        return awaited.done > int(step["deps"])

    def cells(self, rank: int, step: dict[str, str], end: str) -> list[tuple[str, int]]:
        first = int(step[f"{end}off"])
        found = [(step[f"{end}buf"], first + offset) for offset in range(int(step["cnt"]))]
        for name, offset in found:
            assert 0 <= offset < len(self.buffers[rank][name]), f"rank {rank} has no {name}[{offset}]"
        return found

    def read(self, rank: int, cell: tuple[str, int]) -> int:
        value = self.buffers[rank][cell[0]][cell[1]]
        assert value is not None, f"rank {rank} reads {cell} before it is written"
        return value

    def partner(self, block: Threadblock) -> Threadblock | None:
        """The threadblock at the other end of a send, if it is about to receive."""
        for other in self.blocks[block.send].values():
            ready = other.step is not None and other.step["type"] in ("r", "rrc")
            if ready and (other.receive, other.channel) == (block.rank, block.channel) and self.is_free(other):
                return other
        return None

    def advance(self, block: Threadblock) -> bool:
        """Do the next step of a threadblock, with the receive of a send; whether it could be done."""
        step = block.step
        if step is None or not self.is_free(block) or step["type"] in ("r", "rrc"):
            return False
        if step["type"] == "s":
            other = self.partner(block)
            if other is None:
                return False
            values = [self.read(block.rank, cell) for cell in self.cells(block.rank, step, "src")]
            self.receive(other, values)
        elif step["type"] != "nop":
            self.local(block.rank, step)
        block.done += 1
        return True

    def receive(self, block: Threadblock, values: list[int]) -> None:
        step = block.step
        assert step is not None
        targets = self.cells(block.rank, step, "dst")
        assert len(targets) == len(values), "a send and its receive differ in count"
        for value, (name, offset), own in zip(values, targets, self.cells(block.rank, step, "src"), strict=True) \
                if step["type"] == "rrc" else ((v, t, t) for v, t in zip(values, targets, strict=True)):  # fmt: skip
            added = self.read(block.rank, own) if step["type"] == "rrc" else 0
            self.buffers[block.rank][name][offset] = value + added
        block.done += 1

    def local(self, rank: int, step: dict[str, str]) -> None:
        for source, target in zip(self.cells(rank, step, "src"), self.cells(rank, step, "dst"), strict=True):
            added = self.read(rank, target) if step["type"] == "re" else 0
            assert step["type"] in ("re", "cpy")
            self.buffers[rank][target[0]][target[1]] = self.read(rank, source) + added


def load(text: str, inputs: list[list[int]]) -> Machine:
    """An algorithm and the input of each rank; what is not input is unknown, in place the output is the input."""
    root = ElementTree.fromstring(text)
    assert int(root.attrib["ngpus"]) == len(inputs) == len(root)
    machine = Machine([])
    channels = int(root.attrib["nchannels"])
    for gpu, values in zip(root, inputs, strict=True):
        assert int(gpu.attrib["i_chunks"]) == len(values)
        chunks: list[int | None] = list(values)
        output: list[int | None] = [None] * int(gpu.attrib["o_chunks"])
        in_place = root.attrib["inplace"] == "1"
        machine.buffers.append({"i": chunks, "o": chunks if in_place else output})
        machine.buffers[-1]["s"] = [None] * int(gpu.attrib["s_chunks"])
        blocks = {}
        ends = set()
        for number, tb in enumerate(gpu):
            send, receive, channel = (int(tb.attrib[name]) for name in ("send", "recv", "chan"))
            assert int(tb.attrib["id"]) == number
            assert [int(step.attrib["s"]) for step in tb] == list(range(len(tb)))
            assert 0 <= channel < channels
            assert not {("s", send, channel), ("r", receive, channel)} & ends - {("s", -1, channel), ("r", -1, channel)}
            ends |= {("s", send, channel), ("r", receive, channel)}
            rank = int(gpu.attrib["id"])
            blocks[number] = Threadblock(rank, number, send, receive, channel, [dict(step.attrib) for step in tb])
        machine.blocks.append(blocks)
    return machine


def run(text: str, inputs: list[list[int]], seed: int = 0) -> list[Buffers]:
    """Buffers of all ranks at the end; fails where nothing can go on before all is done."""
    machine, random = load(text, inputs), Random(seed)
    everyone = [block for blocks in machine.blocks for block in blocks.values()]
    while any(block.step is not None for block in everyone):
        random.shuffle(everyone)
        done = [machine.advance(block) for block in everyone]
        assert any(done), "deadlock"
    return machine.buffers
