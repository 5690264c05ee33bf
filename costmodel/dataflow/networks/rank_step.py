"""One rank's step of a candidate that offloads: which tensors leave local memory, when, and what the kernels take.

Kernels and messages are those that the candidate was scored with: a step in which nothing waits for a copy takes the
score's time less what it adds for the second tier.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from costmodel.dataflow.networks.network_rank_step import network_program
from costmodel.dataflow.networks.pass_times import PassTimes
from costmodel.dataflow.networks.tensor_graph import Absence, Operator, Tensor, TensorGraph, TensorKind
from costmodel.dataflow.streams.placement import Link
from costmodel.dataflow.streams.program import Program
from costmodel.dataflow.streams.resident import page_bytes_of
from costmodel.hardware.memory.tier import MemoryTier
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.opgraph import OpGraph
from costmodel.pricing.score import Scores
from costmodel.workloads import NetworkTraining
from costmodel.workloads.transformer.evaluation import TRAINING
from costmodel.workloads.transformer.memory import RESIDENT_LAYERS, TrainingMemory, training_memory
from costmodel.workloads.transformer.stage import Stage
from costmodel.workloads.transformer.training import TransformerTraining

PLACED = (TransformerTraining, NetworkTraining)
"""workloads whose tensors in a second tier are placed page by page"""
Pass = tuple[int, int]
"""(micro-batch, chunk of layers)"""


@dataclass(frozen=True)
class RankStep:
    """A rank of the first stage, which keeps the most activations; all other ranks do the same or less."""

    program: Program
    tier: MemoryTier
    capacity_bytes: float
    """of local memory"""
    local_bytes: float
    """of it for tensors that stay, beside all that is always there and two layers' optimizer state on its way"""
    scored_s: float
    """time of the step by the score, and of all that belongs to it"""
    other_s: float
    """of that, what follows the operators of the program: its share of evaluation"""
    memories: tuple[str, ...]
    """that make up the tier in equal parts, each with a way of its own"""

    @property
    def links(self) -> tuple[Link, ...]:
        """Ways to the memories of the second tier, named after them; reads and writes share each."""
        rate = self.tier.bandwidth_bytes_per_s / len(self.memories)
        return tuple(Link(name=name, bandwidth_bytes_per_s=rate) for name in self.memories)

    @property
    def memory_bytes(self) -> dict[str, float | None]:
        """Capacity of each of these memories."""
        return dict.fromkeys(self.memories, self.tier.capacity_bytes / len(self.memories))

    @property
    def page_bytes(self) -> float:
        """That its largest tensor is cut into."""
        return page_bytes_of(float(self.program.size_bytes.max(initial=1.0)))


def rank_step(candidates: Candidates, scores: Scores, row: int, other_s: float = 0.0) -> RankStep | None:
    """The step of a row of candidates with their scores, and seconds of what else belongs to it (`trained.Trained`);
    None where nothing of it lives in a second tier."""
    workload, split = candidates.workload, candidates.splits[candidates.split[row]]
    device = split.device
    part, graph = candidates.part(np.array([row]), device)
    if not isinstance(workload, PLACED) or device.offload is None or not part.mappings.offload[0]:
        return None
    own = scores.take(np.array([row]))
    if isinstance(workload, NetworkTraining):
        program, passing_bytes = network_program(workload, part, own, graph, device), 0.0
    else:
        training = graph.phase_graphs.get(TRAINING, graph)
        program, passing_bytes = _transformer_program(workload, part, own, training)
    return RankStep(
        program=program,
        tier=device.offload,
        capacity_bytes=device.capacity_bytes,
        local_bytes=max(device.capacity_bytes - float(own.footprint_bytes[0] + passing_bytes), 0.0),
        scored_s=float(own.step_s[0]) + other_s,
        other_s=other_s,
        memories=split.second_tiers or (device.offload.name,),
    )


def _transformer_program(
    job: TransformerTraining, part: Candidates, scores: Scores, graph: OpGraph
) -> tuple[Program, float]:
    """The step of the only row, and bytes of two layers' optimizer state on its way."""
    stage = Stage.of(job, part.mappings)
    times = PassTimes.of(part, graph, scores, stage)
    memory, updates = training_memory(job, stage), part.mappings.has_offload("optimizer")[0]
    passing_bytes = RESIDENT_LAYERS * memory.kept_bytes["optimizer"][0] / stage.layers[0] * updates
    return _Step(stage, memory, times).program(), float(passing_bytes)


class _Step:
    """Operators by layer and pass, and the tensors between them."""

    def __init__(self, stage: Stage, memory: TrainingMemory, times: PassTimes) -> None:
        self.stage, self.memory = stage, memory
        self.forward_s, self.backward_s = float(times.forward_s[0]), float(times.backward_s[0])
        self.update_s, self.idle_s = float(times.update_s[0]), float(times.idle_s[0])
        self.layers, self.chunks = int(stage.layers[0]), int(stage.interleave[0])
        self.stages, self.micro_batches = int(stage.pipeline[0]), int(stage.micro_batches[0])
        self.tensors: list[Tensor] = []
        self.operators: list[Operator] = []
        self.operator_s: list[float] = []

    def program(self) -> Program:
        """1F1B: as many forward passes as stages are in flight, then one backward and one forward in turn; the update
        of a layer follows its last backward pass."""
        weights, optimizer = self._parameters("weights", "weight"), self._parameters("optimizer", "optimizer")
        saved: dict[tuple[Pass, int], tuple[int, ...]] = {}
        left = [self.micro_batches] * self.layers
        for is_forward, each in self._passes():
            for layer in self._layers(each[1]) if is_forward else reversed(self._layers(each[1])):
                name = f"layer {layer + 1}, micro-batch {each[0] + 1}"
                if is_forward:
                    saved[each, layer] = self._activations(name)
                    entering, inner = saved[each, layer][:1], saved[each, layer][1:]
                    needs, makes = (*entering, *weights[layer]), (*entering, *inner)
                    self._add(Operator(name, layer, "forward", needs, makes), self.forward_s)
                    continue
                needs = (*saved[each, layer], *weights[layer])
                self._add(Operator(f"{name} gradient", layer, "backward", needs), self.backward_s)
                left[layer] -= 1
                if not left[layer]:
                    own = (*weights[layer], *optimizer[layer])
                    self._add(Operator(f"layer {layer + 1} update", layer, "update", own, own), self.update_s)
        names = tuple(f"layer {layer + 1}" for layer in range(self.layers))
        graph = TensorGraph(tuple(self.tensors), tuple(self.operators), names)
        absences = sorted(_absences(graph), key=lambda each: (each.after, each.tensor))
        return Program(graph, np.array(self.operator_s), np.zeros(len(self.operators)), tuple(absences))

    def _layers(self, chunk: int) -> range:
        """Of a chunk; chunks differ by one layer at most."""
        return range(chunk * self.layers // self.chunks, (chunk + 1) * self.layers // self.chunks)

    def _passes(self) -> Iterator[tuple[bool, Pass]]:
        """Whether forward, and of what, in order. Source: Narayanan et al. 2021 (arXiv:2104.04473), section 2.2."""
        forward, backward = self._order(range(self.chunks)), self._order(range(self.chunks)[::-1])
        ahead = self.stages if self.chunks == 1 else self.stages * self.chunks + self.stages - 1
        yield from ((True, each) for each in forward[:ahead])
        self._idle()
        for number, each in enumerate(backward):
            yield False, each
            if number + ahead < len(forward):
                yield True, forward[number + ahead]

    def _order(self, chunks: range) -> list[Pass]:
        """Rounds of as many micro-batches as there are stages, chunk after chunk."""
        rounds = [
            range(self.micro_batches)[first : first + self.stages]
            for first in range(0, self.micro_batches, self.stages)
        ]
        return [(m, chunk) for some in rounds for chunk in chunks for m in some]

    def _idle(self) -> None:
        """A pipeline's idle time as a whole, before the first backward pass."""
        if self.idle_s > 0:
            self._add(Operator("pipeline bubble", 0, "forward"), self.idle_s)

    def _parameters(self, name: Literal["weights", "optimizer"], kind: TensorKind) -> list[tuple[int, ...]]:
        """One tensor for each layer, with its part of the vocabulary's; none where they stay."""
        if not self.stage.mappings.has_offload(name)[0]:
            return [()] * self.layers
        size = float(self.memory.kept_bytes[name][0]) / self.layers
        return [(self._tensor(f"layer {layer + 1} {name}", kind, size),) for layer in range(self.layers)]

    def _activations(self, name: str) -> tuple[int, ...]:
        """A layer's input, and what else it leaves for the backward pass; none where they stay."""
        if not self.stage.mappings.has_offload("activations")[0]:
            return ()
        entering, every = float(self.memory.input_bytes[0]), float(self.memory.layer_bytes[0])
        found = (self._tensor(f"{name} input", "activation", entering),)
        return (*found, self._tensor(f"{name} inside", "activation", every - entering)) if every > entering else found

    def _tensor(self, name: str, kind: TensorKind, size_bytes: float) -> int:
        self.tensors.append(Tensor(name, kind, size_bytes))
        return len(self.tensors) - 1

    def _add(self, operator: Operator, takes_s: float) -> None:
        self.operators.append(operator)
        self.operator_s.append(takes_s)


def _absences(graph: TensorGraph) -> Iterator[Absence]:
    """Between uses that do not follow each other; parameters are elsewhere before the first and after the last too."""
    last = len(graph.operators)
    for number, (tensor, uses) in enumerate(zip(graph.tensors, graph.uses, strict=True)):
        ends = list(pairwise(uses))
        if tensor.kind == "activation":
            maker = graph.operators[uses[0]]
            sources = tuple(each for each in maker.needs if each != number)
            is_inside = number not in maker.needs
            remade = (uses[0], sources) if is_inside else (None, ())
            yield from (Absence(number, a, b, True, *remade) for a, b in ends if b - a > 1)
            continue
        yield from (Absence(number, a, b, False, None) for a, b in [(-1, uses[0]), *ends] if b - a > 1)
        yield Absence(number, uses[-1], last, True, None)
