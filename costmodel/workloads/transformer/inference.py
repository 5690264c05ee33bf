"""Serving of transformers by replicas under tensor and expert parallelism."""

from dataclasses import replace
from functools import partial
from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field

from costmodel.hardware.device import BYTES_OF_PRECISION, Device, Precision
from costmodel.parallelism.degrees import RANK_ORDERS, RankOrder, degree_table, divisors, every_mapping
from costmodel.parallelism.mappings import Bools, Dimension, Floats, Mappings
from costmodel.pricing.calibration import Calibrations
from costmodel.pricing.opgraph import KernelTimes, OpGraph, Shapes
from costmodel.serving.admission import MEMORY_SHARE, memory_slots
from costmodel.serving.backends import GENERIC, ServingCurve, require_backend, serving_curve, usual_curve
from costmodel.serving.closed_loop import START_SHARE, Load, PromptsBeside, PromptsFirst
from costmodel.serving.kernels import EngineKernels
from costmodel.spec import Count, Degree, Spec
from costmodel.workloads.transformer.passes import VOCABULARY_BYTES, Pass, Passes
from costmodel.workloads.transformer.shapes import (
    Model,
    TransformerShape,
    kv_dim,
    layer_parameters,
    model_name,
    shape_of,
    tensor_degrees,
)

_KEYS = ("tensor", "expert", "micro_batch")
"""columns on which the operators of a layer depend"""


class TransformerInference(Spec):
    """A closed loop of users: each sends a prompt and reads the answer, and the next one follows at once.

    A step is one token for every user, and with it the share of the prompts that start in a step.
    """

    kind: Literal["transformer_inference"] = "transformer_inference"
    model: Model
    precision: Precision = "bf16"
    """of the layers' weights and matrix products"""
    activation_precision: Precision = "bf16"
    """of what crosses memory and network between operators"""
    kv_precision: Precision | None = None
    """of the KV cache; absent: bf16, or that of the weights where the backend has it so"""
    concurrency: Count
    """users served at once by the whole job"""
    input_tokens: Count
    output_tokens: Count
    expert: Degree | tuple[Degree, ...] | None = None
    """replicas among which the experts are divided; the planner chooses of a list, or where it is absent"""
    backend: Annotated[str, AfterValidator(require_backend)] = GENERIC
    """software that serves; `generic` has typical overheads"""
    batching: Literal["continuous", "static"] = "continuous"
    """continuous: requests enter and leave a running batch; static: each batch runs to its end before the next one"""
    max_batch: Count | None = None
    """requests that a replica runs at once at most; absent: memory alone limits them"""
    requests_per_user: float | None = Field(default=None, ge=2)
    """of a run in which all users start at once; absent: the steady state"""

    @property
    def shape(self) -> TransformerShape:
        return shape_of(self.model)

    @property
    def speed_unit(self) -> str:
        return "tokens/s"

    @property
    def phases(self) -> tuple[str, ...]:
        """In a round: prompts of all users, then all their tokens."""
        return ("prefill", "decode")

    @property
    def rounds_per_step(self) -> float:
        return 1.0 / self.output_tokens

    @property
    def divided(self) -> str:
        """What degrees of parallelism must divide, for messages."""
        return f"its {self.shape.heads} heads, with one of {self.concurrency} users at least for each replica"

    @property
    def flops_per_work(self) -> float:
        """Matrix operations of an output token, with its share of the prompt's."""
        prompt = self.shape.forward_flops(self.input_tokens * (0.5 if self.shape.causal else 1.0))
        share = self.input_tokens / self.output_tokens
        return self.shape.forward_flops(self.input_tokens + self.output_tokens / 2) + share * prompt

    def menus(self) -> dict[str, tuple[int, ...]]:
        """Numbers of each column of mappings beside the degrees."""
        if self.expert is None:
            return {"expert": tuple(divisors(self.shape.experts))}
        return {"expert": self.expert if isinstance(self.expert, tuple) else (self.expert,)}

    def mappings(self, num_devices: int) -> Mappings:
        """Every split into `data` replicas of `tensor` ranks; micro_batch is users of the fullest one."""
        degrees = degree_table(num_devices, tensor_degrees(self.shape, num_devices), (1,), 1)
        found = every_mapping(degrees, self.menus())
        users = -(-self.concurrency // found.data)
        found = replace(found, micro_batch=users.astype(found.micro_batch.dtype))
        return found.take(self.allowed(found))

    def allowed(self, m: Mappings) -> Bools:
        """Which mappings have a user for each replica and whole experts on each rank, shape (M,)."""
        divides = (self.shape.experts % m.expert.astype(np.int64) == 0) & (m.data % m.expert == 0)
        return np.asarray((m.data <= self.concurrency) & divides)

    def footprint(self, mappings: Mappings) -> tuple[Floats, Floats]:
        """Memory without which an accelerator serves nobody, and what it keeps in a second tier: bytes, shapes (M,).

        An engine that takes MEMORY_SHARE of it has room for one request; users beyond those with room wait.
        """
        shapes = Shapes.distinct({name: getattr(mappings, name) for name in _KEYS})
        curve = usual_curve(self.backend)
        held_bytes = self._held_bytes(shapes, curve) + self._token_bytes(shapes, curve) * self._request_tokens
        return (held_bytes / MEMORY_SHARE)[shapes.of], np.zeros(len(mappings))

    @property
    def tensor_leaves_servers(self) -> bool:
        """Whether a tensor group wider than a server is listed: its all-reduces then wait for the network."""
        return True

    @property
    def rank_orders(self) -> tuple[RankOrder, ...]:
        """Orders of the ranks among which is chosen: all, though without a pipeline they are alike."""
        return RANK_ORDERS

    def sends_halves(self, dimension: Dimension) -> bool:
        """Whether ranks only reduce-scatter and all-gather along a dimension, which no tree does."""
        return False

    def sends(self, dimension: Dimension) -> bool:
        """Whether groups of several ranks along a dimension exchange anything: replicas do not."""
        return dimension in ("tensor", "expert")

    def kernels(self, device: Device, curve: ServingCurve, calibrations: Calibrations | None) -> KernelTimes:
        """What prices the operators."""
        return EngineKernels(device, self.precision, curve, calibrations)

    def op_graph(self, mappings: Mappings, device: Device, calibrations: Calibrations | None = None) -> OpGraph:
        """The steps of an engine's phases, as many of each as give every user one token.

        Source of the operators: Pope et al. 2022 (arXiv:2211.05102), sections 2 and 3.
        """
        device.matrix_flops_per_s(self.precision)
        shapes = Shapes.distinct({name: getattr(mappings, name) for name in _KEYS})
        curve, _ = serving_curve(device, self.backend, model_name(self.shape), calibrations)
        users, slots = shapes.columns["micro_batch"], self._slots(shapes, device, curve)
        prompts = self._prompts(slots, curve)
        is_beside = self.batching == "continuous" and curve.prefill_tokens == 0
        if is_beside:
            slots = np.minimum(slots, float(self.output_tokens))
        sizes = users[shapes.of], slots[shapes.of], prompts[shapes.of]
        load = Load(*sizes, float(self.output_tokens), self.shape.layers, curve, self.requests_per_user)
        pace = PromptsBeside(load) if is_beside else PromptsFirst(load)
        passes, each = self._passes(shapes, curve), _phases(slots, prompts, slots - 1 if is_beside else 0 * slots)
        blocks = [b for name, steps in pace.steps().items() for b in passes.blocks(each[name], shapes, steps)]
        none = np.zeros(len(mappings))
        return OpGraph(
            blocks=tuple(blocks),
            bubble=none,
            relief=none,
            footprint_bytes=self._used_bytes(shapes, slots, device, curve)[shapes.of],
            tier_footprint_bytes=none,
            tier_bytes=none,
            work=np.full(len(mappings), float(self.concurrency)),
            precision=self.precision,
            regime="inference",
            pace=pace,
            kernels=self.kernels(device, curve, calibrations),
            rounds=partial(self.model_copy(update={"batching": "static"}).op_graph, mappings, device, calibrations),
        )

    @property
    def _request_tokens(self) -> float:
        return float(self.input_tokens + self.output_tokens)

    def _prompts(self, slots: Floats, curve: ServingCurve) -> Floats:
        """That a step takes in, shape (K,)."""
        if self.batching == "static":
            return slots
        return np.minimum(max(float(curve.prefill_tokens // self.input_tokens), 1.0), slots)

    def _slots(self, shapes: Shapes, device: Device, curve: ServingCurve) -> Floats:
        """Requests that a replica runs at once, shape (K,): at least one, which is all that listing asks for."""
        free_bytes = MEMORY_SHARE * device.capacity_bytes - self._held_bytes(shapes, curve)
        sizes = float(self.input_tokens), float(self.output_tokens)
        slots = np.maximum(memory_slots(free_bytes, self._token_bytes(shapes, curve), *sizes, curve), 1.0)
        most = shapes.columns["micro_batch"] if self.max_batch is None else float(self.max_batch)
        return np.minimum(np.minimum(slots, most), shapes.columns["micro_batch"])

    def _passes(self, shapes: Shapes, curve: ServingCurve) -> Passes:
        return Passes(
            self.shape,
            shapes.columns["tensor"],
            shapes.columns["expert"],
            self.precision,
            self.activation_precision,
            self._kv(curve),
            float(self.input_tokens),
            self.input_tokens + self.output_tokens / 2,
        )

    def _kv(self, curve: ServingCurve) -> Precision:
        """Precision of the KV cache."""
        return self.kv_precision or (self.precision if curve.kv_follows_weights else "bf16")

    def _token_bytes(self, shapes: Shapes, curve: ServingCurve) -> Floats:
        """Keys and values of one token in all layers on one rank, shape (K,)."""
        width = kv_dim(self.shape, shapes.columns["tensor"])
        return np.asarray(self.shape.layers * 2 * BYTES_OF_PRECISION[self._kv(curve)] * width)

    def _held_bytes(self, shapes: Shapes, curve: ServingCurve) -> Floats:
        """Weights and runtime of one rank, shape (K,)."""
        shape, (tensor, expert) = self.shape, (shapes.columns[key] for key in _KEYS[:2])
        layer = layer_parameters(shape, tensor, expert) * BYTES_OF_PRECISION[self.precision]
        return shape.layers * layer + VOCABULARY_BYTES * shape.vocabulary_parameters / tensor + curve.runtime_bytes

    def _used_bytes(self, shapes: Shapes, slots: Floats, device: Device, curve: ServingCurve) -> Floats:
        """With the cache of all running requests, which fills the engine's share of memory at most; shape (K,)."""
        cached_bytes = self._token_bytes(shapes, curve) * slots * self._request_tokens
        held_bytes = self._held_bytes(shapes, curve)
        return np.maximum(np.minimum(held_bytes + cached_bytes, MEMORY_SHARE * device.capacity_bytes), held_bytes)


def _phases(slots: Floats, prompts: Floats, beside: Floats) -> dict[str, Pass]:
    """A step of each phase: tokens of all running requests; prompts beside some, and beside the few of a start."""
    return {
        "decode": Pass("decode", slots, np.zeros_like(slots)),
        "prefill": Pass("prefill", beside, prompts),
        "start": Pass("start", beside / START_SHARE, prompts),
    }
