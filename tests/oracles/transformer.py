"""One accelerator's step written out: every kernel and message, in loops over micro-batches and layers.

Plain integers and floats, one mapping at a time, from the definitions of the workloads and none of their code;
only numbers that were fitted or counted are taken from there.
"""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from costmodel.workloads.transformer import blocks
from costmodel.workloads.transformer.stage import CAST_BYTES
from tests.oracles.transformer_memory import RECOMPUTE, Memory, training_memory

BYTES = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "fp4": 9 / 16}


CAST = {"fp32": 0, "bf16": 0, "fp16": 0} | CAST_BYTES


@dataclass(frozen=True)
class Run:
    """Executions of a kernel."""

    kind: str
    flops: float
    memory_bytes: float
    times: float = 1.0
    sizes: tuple[float, float, float] | None = None
    precision: str | None = None
    memory_efficiency: float | None = None
    attention: tuple[Any, ...] | None = None
    """sequences, new and cached tokens, heads, key-value heads, width of a head, precision of the cache, causal"""
    kernels: float = 1.0
    """that the host starts"""
    experts: tuple[float, float, float] | None = None
    """rows of one expert, columns of all that are visited, inner: what an engine's one kernel has for tiles"""
    several: tuple[float, float, float, float] | None = None
    """rows, columns, inner and number of products that training runs side by side, as fast as one with all rows"""
    awaited: bool = False
    """whether the host starts it only once the device has told how many tokens each expert gets"""


@dataclass(frozen=True)
class Send:
    """All-reduces, or halves of one, or other messages."""

    dimension: str
    message_bytes: float
    times: float
    parts: float = 1.0
    """each with the latency of a message"""


@dataclass
class Work:
    """What is executed and sent."""

    runs: list[Run] = field(default_factory=list)
    sends: list[Send] = field(default_factory=list)
    passes: list[list[Run]] = field(default_factory=list)
    """kernels that the host starts ahead of the device; all others wait for their start"""

    def add(self, runs: list[Run], sends: list[Send], *, is_ahead: bool = False) -> None:
        if is_ahead:
            self.passes.append(runs)
        self.runs += runs
        self.sends += [send for send in sends if send.times > 0]


@dataclass
class Step:
    """One step of the busiest accelerator."""

    every_stage: Work = field(default_factory=Work)
    """what each stage of a pipeline does for each micro-batch"""
    last_stage: Work = field(default_factory=Work)
    once: Work = field(default_factory=Work)
    """what each stage does once"""
    bubble: float = 0.0
    relief: float = 0.0
    memory: Memory = field(default_factory=Memory)

    @property
    def works(self) -> tuple[Work, Work, Work]:
        return self.every_stage, self.last_stage, self.once

    def total(self, column: str) -> float:
        runs = [run for work in self.works for run in work.runs]
        return sum(run.times * (1.0 if column == "launches" else getattr(run, column)) for run in runs)

    def sent_bytes(self, dimension: str) -> float:
        sends = [send for work in self.works for send in work.sends if send.dimension == dimension]
        return sum(send.times * send.message_bytes for send in sends)


@dataclass(frozen=True)
class Rank:
    """One rank of a tensor group, and how it keeps numbers."""

    shape: Any
    tensor: int
    expert: int
    tokens: float
    normed: float
    weight: float
    activation: float
    cast: float = 0.0

    def matrix(self, rows: float, inner: float, columns: float, times: float = 1.0, weight=None, precision=None) -> Run:
        weight = self.weight if weight is None else weight
        moved = weight * inner * columns + self.activation * (rows * inner + rows * columns)
        return Run("matrix", 2 * rows * inner * columns, moved, times, (rows, columns, inner), precision)

    def copy(self, elements: float, times: float = 1.0) -> Run:
        return Run("elementwise", 0.0, self.activation * elements, times)

    @property
    def query(self) -> float:
        return self.shape.heads * self.shape.head_dim / self.tensor

    @property
    def keys(self) -> float:
        return max(self.shape.kv_heads / self.tensor, 1) * self.shape.head_dim

    def ffn(self, width: float, rows: float) -> list[Run]:
        up = 2 * width if self.shape.gated else width
        return [
            self.matrix(rows, self.shape.hidden, up / self.tensor),
            self.matrix(rows, width / self.tensor, self.shape.hidden),
        ]

    def experts(self, arriving: float) -> list[Run]:
        """By two matrices of all experts that are visited: the host starts a kernel for each that the rank holds, and
        as many that make their operands narrow."""
        shape = self.shape
        missed = (1 - shape.experts_per_token / shape.experts) ** (self.tokens * self.expert)
        visited = max(shape.experts / self.expert * (1 - missed), 1)
        one = self.ffn(shape.ffn, arriving / visited)
        held = shape.experts / self.expert
        runs = []
        for run in one:
            rows, columns, inner = run.sizes
            sizes = max(rows, 1.0), visited * columns, inner
            flops, moved = visited * run.flops, visited * run.memory_bytes
            side_by_side = rows, columns, inner, visited
            runs.append(Run(run.kind, flops, moved, kernels=held, experts=sizes, several=side_by_side, awaited=True))
        ends = arriving * sum(run.sizes[1] + run.sizes[2] for run in one)
        casts = Run("elementwise", 0.0, self.cast * ends / 3, kernels=2 * held, awaited=True)
        return [*runs, casts] if self.cast else runs

    def layer(self) -> list[Run]:
        """A layer's forward pass without the core of attention; narrow operands are made of wide ones."""
        runs = self.wide_layer()
        ends = sum(run.sizes[0] * (run.sizes[1] + run.sizes[2]) for run in runs if run.sizes)
        return [*runs, Run("elementwise", 0.0, self.cast * ends / 3)] if self.cast else runs

    def wide_layer(self) -> list[Run]:
        shape, accesses = self.shape, 3 if self.shape.gated else 2
        runs = [
            self.matrix(self.tokens, shape.hidden, self.query + self.keys + self.keys),
            self.matrix(self.tokens, self.query, shape.hidden),
            self.copy(10 * self.normed * shape.hidden / 2),
            self.copy(10 * self.normed * shape.hidden / 2),
        ]
        if shape.experts == 1:
            return [
                *runs,
                *self.ffn(shape.ffn, self.tokens),
                self.copy(accesses * self.tokens * shape.ffn / self.tensor),
            ]
        arriving = self.tokens * shape.experts_per_token
        runs += self.experts(arriving)
        runs.append(self.matrix(self.normed, shape.hidden, shape.experts))
        runs.append(replace(self.copy(accesses * arriving * shape.ffn / self.tensor), awaited=True))
        runs.append(replace(self.copy(4 * arriving * shape.hidden), awaited=True))
        if shape.shared_ffn:
            runs += self.ffn(shape.shared_ffn, self.tokens)
            runs.append(self.copy(accesses * self.tokens * shape.shared_ffn / self.tensor))
        return runs

    def layer_sends(self, all_reduces: float, dispatched: float | None = None) -> list[Send]:
        """With what is dispatched in so many bytes an element; results are activations."""
        hidden = self.activation * self.shape.hidden
        sends = [Send("tensor", hidden * self.tokens, all_reduces if self.tensor > 1 else 0)]
        if self.shape.experts > 1 and self.expert > 1:
            mean = ((self.activation if dispatched is None else dispatched) + self.activation) / 2
            copies = self.normed * self.shape.experts_per_token
            sends.append(Send("expert", mean * self.shape.hidden * copies, 2))
        return sends

    def whole_parameters(self) -> float:
        """Of a layer, those that all ranks of a data group have."""
        shape = self.shape
        matrices = 3 if shape.gated else 2
        total = shape.hidden * (self.query + 2 * self.keys) + self.query * shape.hidden + 2 * shape.hidden
        dense = shape.ffn if shape.experts == 1 else 0
        total += matrices * shape.hidden * (dense + shape.shared_ffn) / self.tensor
        return total + (shape.experts * shape.hidden if shape.experts > 1 else 0)

    def expert_parameters(self) -> float:
        """Of a layer, those of this rank's experts."""
        if self.shape.experts == 1:
            return 0.0
        matrices = 3 if self.shape.gated else 2
        return matrices * self.shape.hidden * self.shape.ffn / self.tensor * self.shape.experts / self.expert


def training_step(job: Any, choice: dict[str, int]) -> Step:
    c, shape, step = SimpleNamespace(**choice), job.shape, Step()
    parameter = max(BYTES[job.precision], 2)
    activation = BYTES[job.activation_precision] if job.activation_precision else parameter
    tokens = c.micro_batch * job.sequence / c.context
    normed = tokens / c.tensor if c.sequence_parallel else tokens
    rank = Rank(shape, c.tensor, c.expert, tokens, normed, BYTES[job.precision], activation, CAST[job.precision])
    micro_batches = job.global_batch // (c.data * c.micro_batch)
    layers, last_layers = stage_layers(shape.layers, c)
    step.relief = (layers - last_layers) / layers
    step.bubble = waiting_passes(c.pipeline, c.interleave, micro_batches) / (c.interleave * micro_batches)
    passes = layer_runs(job, c, rank)
    for _ in range(micro_batches):
        for _ in range(layers):
            for runs, sends in passes:
                step.every_stage.add(runs, sends, is_ahead=True)
        for _ in range(c.interleave if c.pipeline > 1 else 0):
            handed = activation * tokens * shape.hidden / c.tensor
            waits = blocks.SHOWN_HAND_OVER if c.interleave > 1 else 1
            step.every_stage.add([], [Send("pipeline", handed, waits), Send("pipeline", handed, waits)])
        step.last_stage.add(*_vocabulary(job, c, rank, parameter), is_ahead=True)
        if c.pipeline == 1:
            step.last_stage.add([rank.copy(4 * tokens * shape.hidden)], [], is_ahead=True)
    one_end = shape.vocabulary * shape.hidden / c.tensor
    ends = one_end * (2 if c.pipeline == 1 and not shape.tied_embeddings else 1)
    whole, experts = layers * rank.whole_parameters() + ends, layers * rank.expert_parameters()
    gathered = BYTES[job.gather_precision] if job.gather_precision else parameter
    narrowed = 4 * (whole + experts - ends) if BYTES[job.precision] < 2 <= gathered else 0
    _update(step, c, (whole, experts), (BYTES[job.gradient_precision], gathered), micro_batches, narrowed)
    step.memory = training_memory(job, c, rank, (whole, experts, ends), (micro_batches, layers))
    return step


def stage_layers(number: int, c: Any) -> tuple[int, int]:
    """Layers of the fullest stage and of the last one, dealt to chunks one by one."""
    chunks = [0] * (c.pipeline * c.interleave)
    for layer in range(number):
        chunks[layer % len(chunks)] += 1
    layers = max(sum(chunks[stage :: c.pipeline]) for stage in range(c.pipeline))
    return layers, max(min(chunks) * c.interleave, number - (c.pipeline - 1) * layers)


def waiting_passes(stages: int, chunks: int, micro_batches: int) -> int:
    """Passes of a chunk in which a stage waits: rounds of `stages` micro-batches, chunk by chunk, played through.

    The backward passes mirror the forward ones.
    """
    order = [
        (first + i, chunk)
        for first in range(0, micro_batches, stages)
        for chunk in range(chunks)
        for i in range(min(stages, micro_batches - first))
    ]
    ends: dict[tuple[int, int, int], int] = {}
    free = [0] * stages
    for micro_batch, chunk in order:
        for stage in range(stages):
            before = (micro_batch, chunk, stage - 1) if stage else (micro_batch, chunk - 1, stages - 1)
            free[stage] = max(free[stage], ends.get(before, 0)) + 1
            ends[micro_batch, chunk, stage] = free[stage]
    return max(free) - chunks * micro_batches


def layer_runs(job: Any, c: Any, rank: Rank) -> list[tuple[list[Run], list[Send]]]:
    """Each pass through a layer for one micro-batch."""
    shape, is_fused = job.shape, job.attention == "fused"
    scores = c.micro_batch * job.sequence * job.sequence * shape.heads / (c.tensor * c.context)
    product = 2 * scores * shape.head_dim
    if is_fused and shape.causal:
        product /= 2
    spilled = 0 if is_fused else blocks.SPILLED_ACCESSES * rank.activation * scores
    qkvo = rank.activation * rank.tokens * (2 * rank.query + 2 * rank.keys)
    attention = job.attention_precision or ("bf16" if BYTES[job.precision] < 2 else job.precision)
    core = Run("attention", product + product, qkvo + spilled, precision=attention)
    redone = 5 if is_fused else 4
    core_backward = Run("attention", redone * product, 2 * qkvo + 1.5 * spilled, precision=attention)
    gathered = rank.activation * c.micro_batch * job.sequence * 2 * rank.keys
    gather = [Send("context", gathered, 0.5)] if c.context > 1 else []
    forward = [*rank.layer(), core], [*rank.layer_sends(2), *gather]
    gradient = BYTES[job.gradient_precision]
    accumulation = Run("elementwise", 0.0, 2 * gradient * (rank.whole_parameters() + rank.expert_parameters()))
    backward = (
        [*_backward(rank.layer()), core_backward, accumulation],
        [*rank.layer_sends(3 if c.sequence_parallel else 2), *gather, *gather],
    )
    recompute = RECOMPUTE[c.recompute]
    again = [forward] if recompute == "full" else []
    if recompute == "selective" and not is_fused:
        again = [([core], [])]
    return [forward, *again, backward]


def _backward(runs: list[Run]) -> list[Run]:
    """Two products for each: gradients of the inputs (rows x columns times its matrix), and of the matrix."""
    found = []
    for run in (replace(each, awaited=False) for each in runs):
        if run.several is not None:
            rows, columns, inner, number = run.several
            inputs, weights = (rows, inner, columns, number), (inner, columns, rows, number)
            found += [replace(run, several=inputs), replace(run, several=weights)]
        elif run.sizes is None:
            found += [run, run]
        else:
            rows, columns, inner = run.sizes
            found += [replace(run, sizes=(rows, inner, columns)), replace(run, sizes=(inner, columns, rows))]
    return found


def _vocabulary(job: Any, c: Any, rank: Rank, parameter: float) -> tuple[list[Run], list[Send]]:
    shape = job.shape
    precision = "bf16" if BYTES[job.precision] < 2 else job.precision
    forward = rank.matrix(rank.tokens, shape.hidden, shape.vocabulary / c.tensor, 1, parameter, precision)
    runs = [forward, *_backward([forward])]
    runs.append(Run("elementwise", 0.0, 4 * 4 * rank.tokens * shape.vocabulary / c.tensor))
    reduced = Send("tensor", rank.activation * rank.tokens * shape.hidden, 1 if c.tensor > 1 else 0)
    return runs, [reduced]


def _update(
    step: Step, c: Any, parameters: tuple[float, float], sizes: tuple[float, float], micro_batches: int, narrowed: float
) -> None:
    """Optimizer, and what the ranks with the same parameters exchange: experts have expert times fewer of these."""
    (whole, experts), ranks, (gradient, gathered) = parameters, c.data * c.context, sizes
    expert_ranks = ranks // c.expert
    owned = whole / ranks + experts / expert_ranks if c.zero else whole + experts
    local = owned if c.zero == 3 else whole + experts
    traffic = blocks.OPTIMIZER_BYTES * owned + 2 * gradient * local
    runs = [Run("elementwise", 0.0, moved) for moved in (traffic, narrowed) if moved]
    step.once.add(runs, [], is_ahead=True)
    if ranks == 1:
        return
    smaller = ((expert_ranks - 1) / expert_ranks) / ((ranks - 1) / ranks)
    shared = whole + experts * smaller
    parts = max((whole + experts) / max(40e6, 1e6 * ranks), 1)
    if c.zero == 0:
        step.once.sends.append(Send("data", gradient * shared, 1, parts))
        return
    for _ in range(micro_batches if c.zero >= 2 else 1):
        step.once.sends.append(Send("data", gradient * shared, 0.5, parts))
    passes = (3 if RECOMPUTE[c.recompute] == "full" else 2) * micro_batches
    for _ in range(passes if c.zero == 3 else 1):
        step.once.sends.append(Send("data", gathered * shared, 0.5, parts))
