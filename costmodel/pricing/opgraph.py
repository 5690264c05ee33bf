"""What one accelerator executes and sends in one step of a job, for many mappings at once.

Axes: M mappings, B blocks, and in each block O operators, G messages and K distinct shapes. Mappings by the
million have few distinct shapes of their layers, so that kernels are priced once per shape.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, Self

import numpy as np

from costmodel.hardware.device import Precision
from costmodel.parallelism.mappings import Dimension, Floats, Ints, distinct_rows
from costmodel.pricing.pace import Pace

OperatorKind = Literal["matrix", "attention", "elementwise"]
Routing = Literal["none", "awaited", "known"]
"""whether the sizes of an operator follow from where tokens were routed, and whether the host must first be told"""


@dataclass(frozen=True)
class AttentionSizes:
    """Attention of some sequences, each with new tokens after cached ones; columns broadcast to (K,)."""

    batch: Floats | float
    tokens: Floats | float
    """new ones; 1 in decoding"""
    cached: Floats | float
    heads: Floats | float
    """of queries, on this rank"""
    kv_heads: Floats | float
    head_dim: float
    kv_precision: Precision
    causal: bool = True


@dataclass(frozen=True)
class Operator:
    """One kind of kernel; each column broadcasts to (K,)."""

    name: str
    kind: OperatorKind
    flops: Floats | float
    memory_bytes: Floats | float
    count: Floats | float = 1.0
    """executions per execution of the block"""
    sizes: tuple[Floats | float, Floats | float, Floats | float] | None = None
    """m, n, k of a matrix product; m of all together where `products` are one kernel's"""
    products: Floats | float = 1.0
    """products of one size that run together, such as those of the experts: each has operands of its own"""
    precision: Precision | None = None
    """of a matrix product, where it is not the graph's"""
    memory_efficiency: float | None = None
    """share of the memory peak, where it is not the device's: short rows at random reach less"""
    kernels: Floats | float = 1.0
    """that a host which runs ahead of the device starts for it"""
    routing: Routing = "none"
    """kernels whose sizes follow from routing are never recorded; until the host is told, it cannot run ahead"""
    attention: AttentionSizes | None = None
    """sizes of a fused attention"""


class KernelTimes(Protocol):
    """How long operators and exchanges take, where it is not by the efficiencies of a regime."""

    def operators_s(self, operators: Sequence[Operator]) -> list[tuple[Floats, Floats, Floats]]:
        """Compute, memory and total time of one execution of each, each broadcasting to (K,)."""
        ...

    def all_reduce_s(self, ranks: Floats, message_bytes: Floats, node_bytes_per_s: Floats) -> Floats:
        """One all-reduce over the switch of one server, whose links have such a peak in one direction."""
        ...


@dataclass(frozen=True)
class Message:
    """One kind of message; each column broadcasts to (K,). A reduce-scatter or an all-gather is half an
    all-reduce, so its count is 0.5."""

    name: str
    dimension: Dimension
    message_bytes: Floats | float
    """all-reduce: size of the buffer; pipeline: bytes sent to the next stage; expert: bytes a rank holds"""
    count: Floats | float = 1.0
    parts: Floats | float = 1.0
    """in which each is sent, one after the other"""


@dataclass(frozen=True)
class Block:
    """Operators and messages that are executed together, so often in a step."""

    name: str
    operators: tuple[Operator, ...]
    messages: tuple[Message, ...]
    shape: Ints
    """(M,) which of the K shapes each mapping has"""
    num_shapes: int
    times: Floats
    """(M,) executions per step"""
    in_bubble: bool = True
    """whether it runs in every stage of a pipeline, so that the bubble repeats it"""
    stage_share: Floats | None = None
    """(M,) share of a pipeline's stages that execute it, where only the last one does"""
    phase: str = ""
    """of the workload, where its work comes in phases"""
    times_in_phase: Floats | float = 1.0
    """(M,) executions in one step of its phase"""

    def column(self, value: Floats | float) -> Floats:
        """A column of one of its rows in full, shape (K,)."""
        return np.broadcast_to(np.asarray(value, np.float64), (self.num_shapes,))

    def total(self, values: Iterable[Floats | float]) -> Floats:
        """Sum of columns over one execution, shape (K,)."""
        total = np.zeros(self.num_shapes)
        for value in values:
            total += value
        return total

    @property
    def flops(self) -> Floats:
        """Of one execution, shape (K,)."""
        return self.total(o.flops * o.count for o in self.operators)

    @property
    def memory_bytes(self) -> Floats:
        """Of one execution, shape (K,)."""
        return self.total(o.memory_bytes * o.count for o in self.operators)


@dataclass(frozen=True)
class OpGraph:
    """What ONE accelerator (the busiest stage's) executes in one step and the messages it takes part in.

    A step takes the sum over blocks of times x time, and the blocks in the bubble once more by `bubble`.
    """

    blocks: tuple[Block, ...]
    bubble: Floats
    """(M,) >= 0: idle time of a pipeline over the time of the blocks in the bubble"""
    relief: Floats
    """(M,) share of the time of the blocks in the bubble that the last stage is spared, having fewer layers"""
    footprint_bytes: Floats
    """(M,) peak memory of the busiest accelerator"""
    tier_footprint_bytes: Floats
    """(M,) what it keeps in the second memory tier"""
    tier_bytes: Floats
    """(M,) what it moves to and from the second memory tier in a step, while it computes"""
    work: Floats
    """(M,) units of work the whole job completes per step"""
    precision: Precision
    """of the matrix operators"""
    regime: Literal["training", "inference"]
    """whose efficiencies hold"""
    overlap: Mapping[Dimension, float | Floats] = field(default_factory=dict)
    """share of the communication along a dimension that hides behind operators, of all or of each mapping, (M,)"""
    tier_windows: tuple[tuple[Floats, Floats], ...] = ()
    """columns of shape (M,): bytes among `tier_bytes` that move during a share of the operators' time alone"""
    phase_tier_bytes: Mapping[str, Floats] = field(default_factory=dict)
    """`tier_bytes` of one step of a phase alone"""
    has_fixed_time: bool = True
    """whether what a step takes whatever it does is part of it"""
    runs_ahead: bool = False
    """whether the host starts operators ahead of the device, which waits only where a block has too little to do"""
    awaits_all: bool = False
    """whether the host starts what was routed only once told its size, backward too: another pass awaits that there"""
    launch_share: float = 1.0
    """of each operator's launch that is left: recorded graphs of kernels start by themselves"""
    framework: str = ""
    """whose efficiencies hold; the newest where empty"""
    copies_inside: float = 1.0
    """messages to experts within a server, over those between servers: a token goes to each of its experts there"""
    narrow_share: float = 1.0
    """of the matrix peak, that products of narrow precision reach at most"""
    processors: Floats | float = 1.0
    """share of the processors that compute while the others send, of all or of each mapping, (M,)"""
    pace: Pace | None = None
    """how steps of the phases follow each other; None where one step follows the other"""
    phase_bubble: Mapping[str, Floats] = field(default_factory=dict)
    """`bubble` of one step of a phase alone"""
    kernels: KernelTimes | None = None
    """what prices operators, where efficiencies of the regime do not"""
    phase_graphs: Mapping[str, "OpGraph"] = field(default_factory=dict)
    """single steps of the phases, where these differ in more than their blocks"""
    memory_bytes_per_s: Floats | None = None
    """(M,) peak of the memory of each mapping, of which rows of one shape have one; None: that of the device"""
    launch_s: Floats | None = None
    """(M,) of each operator, likewise; None: that of the efficiencies"""
    rounds: Callable[[], "OpGraph"] | None = None
    """the same work in rounds, where its phases follow each other in another way"""

    def in_rounds(self) -> "OpGraph":
        """With each phase for all work together, before the next one."""
        return self if self.rounds is None else self.rounds()

    def alone(self, name: str) -> "OpGraph":
        """One step of a phase."""
        if name in self.phase_graphs:
            return self.phase_graphs[name]
        blocks = (b for b in self.blocks if b.phase == name)
        once = tuple(replace(b, times=np.full(len(self), b.times_in_phase)) for b in blocks)
        bubble, moved = self.phase_bubble.get(name, self.bubble), self.phase_tier_bytes.get(name, 0 * self.tier_bytes)
        return replace(self, blocks=once, bubble=bubble, tier_bytes=moved, pace=None, has_fixed_time=False)

    def of_phase(self, name: str) -> "OpGraph":
        """What belongs to a phase alone."""
        return replace(self, blocks=tuple(b for b in self.blocks if b.phase == name), has_fixed_time=False)

    def without_phase(self, name: str) -> "OpGraph":
        """What is left of a step beside a phase."""
        held = [each for phase, each in self.phase_graphs.items() if phase != name] or [self]
        columns = ("footprint_bytes", "tier_footprint_bytes")
        most = {column: np.max([getattr(each, column) for each in held], axis=0) for column in columns}
        return replace(self, blocks=tuple(b for b in self.blocks if b.phase != name), **most)

    def __len__(self) -> int:
        return len(self.bubble)

    @property
    def flops(self) -> Floats:
        """Matrix operations of one accelerator in one step, shape (M,)."""
        return self._per_step(lambda block: block.flops)

    @property
    def memory_bytes(self) -> Floats:
        """Traffic of one accelerator's local memory in one step, shape (M,)."""
        return self._per_step(lambda block: block.memory_bytes)

    def _per_step(self, of_block: Any) -> Floats:
        total = np.zeros(len(self))
        for block in self.blocks:
            total += of_block(block)[block.shape] * block.times
        return total

    def operators_of(self, m: int) -> Iterator[tuple[Block, Operator, float, float, float]]:
        """Block, operator, its flops and bytes, and its executions per step, of one mapping."""
        for block in self.blocks:
            k, times = int(block.shape[m]), float(block.times[m])
            for operator in block.operators:
                columns = operator.flops, operator.memory_bytes, operator.count
                flops, moved, count = (block.column(each)[k] for each in columns)
                yield block, operator, float(flops), float(moved), float(count) * times

    def messages_of(self, m: int) -> Iterator[tuple[Block, Message, float, float]]:
        """Block, message, its bytes and its number per step, of one mapping."""
        for block in self.blocks:
            k, times = int(block.shape[m]), float(block.times[m])
            for message in block.messages:
                size, count = block.column(message.message_bytes)[k], block.column(message.count)[k]
                yield block, message, float(size), float(count) * times


@dataclass(frozen=True)
class Shapes:
    """Distinct rows of some columns: K keys, and the key of each mapping."""

    columns: dict[str, Floats]
    """name -> (K,)"""
    of: Ints
    """(M,)"""
    num_shapes: int

    def __len__(self) -> int:
        return self.num_shapes

    @classmethod
    def distinct(cls, columns: dict[str, Ints]) -> Self:
        """Of integer columns of shape (M,); see distinct_rows."""
        first, of = distinct_rows(list(columns.values()))
        distinct = {name: column[first].astype(np.float64) for name, column in columns.items()}
        return cls(distinct, of.astype(np.intp), len(first))

    def block(
        self,
        name: str,
        operators: Sequence[Operator],
        messages: Sequence[Message],
        times: Floats | float,
        *,
        in_bubble: bool = True,
        stage_share: Floats | None = None,
    ) -> Block:
        """A block of these shapes, executed so often by each mapping."""
        full = np.broadcast_to(np.asarray(times, np.float64), self.of.shape)
        return Block(name, tuple(operators), tuple(messages), self.of, len(self), full, in_bubble, stage_share)

    def phase_block(
        self, phase: str, name: str, operators: Sequence[Operator], messages: Sequence[Message],
        times: Floats | float, steps: Floats, *, stage_share: Floats | None = None,
    ) -> Block:  # fmt: skip
        """A block that each step of a phase executes so often, with the steps of the phase in a step, shapes (M,); one
        with a `stage_share` runs on the last stage alone."""
        parts = tuple(operators), tuple(messages)
        return Block(
            f"{phase} {name}", *parts, self.of, len(self), times * steps, in_bubble=stage_share is None,
            stage_share=stage_share, phase=phase, times_in_phase=times,
        )  # fmt: skip
