"""Schedules as algorithms of MSCCL: XML of threadblocks whose steps send, receive, copy and reduce.

Every circuit has one threadblock that sends and one that receives, so a threadblock never waits for two peers; what
moves inside a rank has a threadblock of its own. A step waits for the last step of other threadblocks that wrote
what it uses or that still reads what it overwrites; of several such waits all but one are written as `nop`. It is
right for any number of messages in flight, none included.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from costmodel.collectives.ladder import Collective
from costmodel.collectives.schedule import LOCAL, Schedule
from planner.integrations.exports.msccl_buffers import Buffers, Place
from planner.integrations.exports.msccl_steps import Program, Step
from planner.integrations.exports.runs import Run, rounds_of

MAX_STEPS = 256
"""of a threadblock, as its number is written"""
DEFAULT_STEPS = 64
"""of a threadblock that the executor takes unless it is built with more (MSCCL_MAX_NUM_STEPS)"""
MAX_THREADBLOCKS = 32
"""of a channel on one rank"""
MAX_COUNT = 72
"""chunks of a step; readers of the format accept fewer than this"""
MAX_ALGORITHMS = 4
"""that one process loads"""
MAX_CHANNELS = 32
NAMES: dict[Collective, str] = {
    "all_reduce": "allreduce",
    "reduce_scatter": "reduce_scatter",
    "all_gather": "allgather",
    "broadcast": "broadcast",
    "all_to_all": "alltoall",
}


@dataclass(frozen=True)
class Algorithm:
    """One schedule and the message sizes it is for."""

    name: str
    schedule: Schedule
    min_bytes: int = 0
    max_bytes: int = 2**62


def msccl_xml(algorithm: Algorithm, max_channels: int = MAX_CHANNELS) -> str:
    """XML of one algorithm, the first call of its schedule."""
    schedule = algorithm.schedule
    rounds = rounds_of(schedule)
    buffers = Buffers.of(schedule, rounds)
    channels = _channels(schedule, max_channels)
    programs = [Program(rank) for rank in range(schedule.ranks)]
    for rank, program in enumerate(programs):
        for source, target, count in buffers.prologue(rank):
            _copy(program, source, target, count)
    for each in rounds:
        for run in each.runs:
            if run.circuit != LOCAL:
                _send(programs[run.sender], run, buffers, channels[run.circuit])
        for run in each.runs:
            if run.circuit == LOCAL:
                _move(programs[run.sender], run, buffers)
            else:
                _receive(programs[run.receiver], run, buffers, channels[run.circuit])
    for rank, program in enumerate(programs):
        for source, target, count in buffers.epilogue(rank):
            _copy(program, source, target, count)
    _check(programs)
    return _text(algorithm, buffers, programs)


def most_steps(text: str) -> int:
    """Steps of the longest threadblock of an algorithm."""
    return max((len(block) for block in ElementTree.fromstring(text).iter("tb")), default=0)


def _channels(schedule: Schedule, max_channels: int) -> list[int]:
    """Channel of each circuit: the first with a free threadblock at both ends, and no circuit between the same ranks.

    One threadblock of channel 0 is kept for what moves inside a rank.
    """
    taken: dict[tuple[int, int], int] = {}
    joined: set[tuple[int, int, int]] = set()
    ends = zip(schedule.circuits.source.tolist(), schedule.circuits.destination.tolist(), strict=True)
    channels = []
    for source, destination in ends:
        for channel in range(min(max_channels, MAX_CHANNELS)):
            room = MAX_THREADBLOCKS - (channel == 0)
            busiest = max(taken.get((rank, channel), 0) for rank in (source, destination))
            if busiest < room and (source, destination, channel) not in joined:
                break
        else:
            raise ValueError(
                f"threadblocks: rank {source} or {destination} needs more than {MAX_THREADBLOCKS} in each of "
                f"{min(max_channels, MAX_CHANNELS)} channels; allow more channels or use smaller radices"
            )
        joined.add((source, destination, channel))
        for rank in (source, destination):
            taken[rank, channel] = taken.get((rank, channel), 0) + 1
        channels.append(channel)
    return channels


def _pieces(run: Run, buffers: Buffers) -> list[tuple[Place, Place, int]]:
    """(source, target, count) of a run, cut where buffers are not contiguous or the count is too large."""
    pieces: list[tuple[Place, Place, int]] = []
    for offset in range(run.count):
        source = buffers.place(run.sender, run.chunk + offset)
        target = buffers.place(run.receiver, run.target + offset)
        if pieces:
            (first, to, count) = pieces[-1]
            follows = source == first.shifted(count) and target == to.shifted(count)
            if follows and count < MAX_COUNT - 1:
                pieces[-1] = (first, to, count + 1)
                continue
        pieces.append((source, target, 1))
    return pieces


def _send(program: Program, run: Run, buffers: Buffers, channel: int) -> None:
    for source, target, count in _pieces(run, buffers):
        block = program.block(send=run.receiver, channel=channel)
        program.add(block, Step("s", source, target, count), reads=source, writes=None)


def _receive(program: Program, run: Run, buffers: Buffers, channel: int) -> None:
    for source, target, count in _pieces(run, buffers):
        block = program.block(receive=run.sender, channel=channel)
        step = Step("rrc", target, target, count) if run.is_reduction else Step("r", source, target, count)
        program.add(block, step, reads=target if run.is_reduction else None, writes=target)


def _move(program: Program, run: Run, buffers: Buffers) -> None:
    for source, target, count in _pieces(run, buffers):
        program.add(program.block(), Step("re" if run.is_reduction else "cpy", source, target, count), source, target)


def _copy(program: Program, source: Place, target: Place, count: int) -> None:
    for start in range(0, count, MAX_COUNT - 1):
        size = min(MAX_COUNT - 1, count - start)
        step = Step("cpy", source.shifted(start), target.shifted(start), size)
        program.add(program.block(), step, step.source, step.target)


def _check(programs: Sequence[Program]) -> None:
    for program in programs:
        for block in program.blocks:
            if block.num_steps > MAX_STEPS:
                raise ValueError(
                    f"steps: a threadblock of rank {program.rank} needs {block.num_steps}, MSCCL allows {MAX_STEPS}; "
                    "use fewer ranks or an algorithm with fewer rounds"
                )


def _text(algorithm: Algorithm, buffers: Buffers, programs: Sequence[Program]) -> str:
    schedule = algorithm.schedule
    root = ElementTree.Element("algo", {
        "name": algorithm.name,
        "proto": "Simple",
        "nchannels": str(1 + max((block.channel for program in programs for block in program.blocks), default=0)),
        "nchunksperloop": str(buffers.chunks_per_loop),
        "ngpus": str(schedule.ranks),
        "coll": NAMES[schedule.collective],
        "inplace": str(int(buffers.is_in_place)),
        "outofplace": str(int(not buffers.is_in_place)),
        "minBytes": str(algorithm.min_bytes),
        "maxBytes": str(algorithm.max_bytes),
    })  # fmt: skip
    for program in programs:
        sizes = {name: str(size) for name, size in buffers.sizes(program.rank).items()}
        gpu = ElementTree.SubElement(root, "gpu", {"id": str(program.rank)} | sizes)
        for block in program.blocks:
            gpu.append(block.element())
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"
