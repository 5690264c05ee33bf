"""Serving of transformers by replicas under tensor and expert parallelism."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from costmodel.hardware.device import Device, Precision
from costmodel.hardware.memory.columns import Memories, MemoryColumns
from costmodel.parallelism.degrees import degree_table, divisors, every_mapping, joined
from costmodel.parallelism.mappings import Bools, Dimension, Floats, Mappings, distinct_rows, share_in_tier
from costmodel.pricing.calibration import Calibrations, FitOrigin, Ranges, origin_of
from costmodel.pricing.opgraph import Block, KernelTimes, OpGraph, Shapes
from costmodel.pricing.pace import Pace
from costmodel.serving.backends import ServingCurve, serving_curve, usual_curve, variant_of
from costmodel.serving.closed_loop import Load, PromptsBeside, PromptsFirst
from costmodel.serving.kernel_rules import RuledKernels
from costmodel.serving.kernels import EngineKernels
from costmodel.workloads.transformer.chunked_prompts import chunks_of, most_in_step
from costmodel.workloads.transformer.disaggregated import (
    of_prompts,
    pool_mappings,
    pools_of,
    suits_pools,
    transfer_block,
)
from costmodel.workloads.transformer.draft import draft_blocks
from costmodel.workloads.transformer.inference_spec import InferenceSpec, numbers_of
from costmodel.workloads.transformer.lengths import Lengths
from costmodel.workloads.transformer.passes import Pass, Passes, passes_by_phase
from costmodel.workloads.transformer.serving_memory import NOTHING_AWAY, ServingMemory, TierShares
from costmodel.workloads.transformer.serving_shapes import KEYS, serving_shapes, shapes_on
from costmodel.workloads.transformer.shapes import model_name, tensor_degrees


class TransformerInference(InferenceSpec):
    """A closed loop of users: each sends a prompt and reads the answer, and the next one follows at once.

    A step is one token for every user, and with it the share of the prompts that start in a step.
    """

    def menus(self) -> dict[str, tuple[int, ...]]:
        """Numbers of each column of mappings beside the degrees."""
        expert = tuple(divisors(self.shape.experts)) if self.expert is None else numbers_of(self.expert)
        return {"expert": expert} | ({"offload": self.offload_codes} if self.may_offload else {})

    def mappings(self, *sizes: int) -> Mappings:
        """Every split into `data` replicas of `tensor` ranks; micro_batch is users of the fullest one."""
        return self.with_users(self.divisions(*sizes))

    def divisions(self, *sizes: int) -> Mappings:
        """The same, whoever is served."""
        shape, stages, menus = self.shape, self.numbers_of_stages, self.menus()
        tensor = [[t for t in tensor_degrees(shape) if size % t == 0] for size in sizes]
        degrees = [degree_table([size], each, (1,), max(stages)) for size, each in zip(sizes, tensor, strict=True)]
        if self.disaggregated:
            own = self.prefill_expert
            menus |= {"prefill_expert": menus["expert"] if own is None else numbers_of(own)}
            pools = zip(degrees, sizes, tensor, strict=True)
            found = Mappings.concatenate([pool_mappings(*each, menus) for each in pools])
        else:
            found = every_mapping(joined(degrees), menus)
        found = found.take(np.isin(found.pipeline, stages))
        return found.take(self.allowed(found))

    def with_users(self, found: Mappings) -> Mappings:
        """Divisions with as many users on each replica as each number to choose from asks for."""
        served, replicas = [], found.data - found.prefill
        for users in self.users_of_jobs.T:
            own = users[found.job]
            fullest = (-(-own // replicas)).astype(found.micro_batch.dtype)
            served.append(replace(found, micro_batch=fullest).take(np.maximum(replicas, found.prefill) <= own))
        if len(served) == 1:
            return served[0]
        every = Mappings.concatenate(served)
        every = every.take(np.lexsort((every.num_devices, every.job)))
        return every.take(np.sort(distinct_rows([getattr(every, each) for each in (*KEYS, "data", "prefill")])[0]))

    def allowed(self, m: Mappings) -> Bools:
        """Which mappings have whole experts on each rank, and pools as they were asked for, shape (M,)."""
        return suits_pools(m, self.shape.experts, self.pinned_pools)

    def users_served(self, m: Mappings) -> Floats:
        """By the whole job, shape (M,): of the numbers to choose from, the most that make its replicas as full."""
        found, room = self.users_of_jobs[:, 0][m.job], m.micro_batch.astype(np.int64) * (m.data - m.prefill)
        for users in self.users_of_jobs.T[1:]:
            own = users[m.job]
            found = np.where((own > 0) & (own <= room), own, found)
        return found.astype(np.float64)

    def footprint(self, mappings: Mappings) -> tuple[Floats, Floats]:
        """Memory without which an accelerator serves nobody, and what it keeps in a second tier: bytes, shapes (M,).

        An engine that takes MEMORY_SHARE of it has room for one request; users beyond those with room wait.
        """
        shapes = serving_shapes(mappings)
        curve = usual_curve(self.backend) if self.kernel_rules is None else self.kernel_rules.software
        pools = (shapes, of_prompts(shapes)) if self.disaggregated else (shapes,)
        least = [(each.least_bytes, each.least_away_bytes) for each in (self._memory(pool, curve) for pool in pools)]
        return tuple(np.max(least, axis=0)[:, shapes.of])

    @property
    def tensor_leaves_servers(self) -> bool:
        """Whether a tensor group wider than a server is listed: its all-reduces then wait for the network."""
        return True

    def sends(self, dimension: Dimension) -> bool:
        """Whether groups of several ranks along a dimension exchange anything: replicas do so in two pools alone."""
        return dimension in ("tensor", "expert", "pipeline") or (self.disaggregated and dimension == "data")

    def kernels(
        self, device: Device, curve: ServingCurve, calibrations: Calibrations | None, memory: MemoryColumns
    ) -> KernelTimes:
        """What prices the operators of shapes with such memories."""
        if (rules := self.kernel_rules) is not None:
            return RuledKernels(rules, device, self.precision)
        return EngineKernels(device, self.precision, curve, calibrations, memory)

    def op_graph(
        self, mappings: Mappings, device: Device, calibrations: Calibrations | None = None, memories: Memories = None
    ) -> OpGraph:
        """The steps of an engine's phases, as many of each as give every user one token.

        Source of the operators: Pope et al. 2022 (arXiv:2211.05102), sections 2 and 3.
        """
        device.matrix_flops_per_s(self.precision)
        shapes, memory = shapes_on(mappings, device, memories)
        curve = self._software(device, calibrations)
        first, is_beside = of_prompts(shapes) if self.disaggregated else shapes, self._is_beside(curve)
        slots, prompts, used_bytes = self._places(shapes, first, curve, (memory, device.tier_capacity_bytes))
        chunks = chunks_of(self, slots, self.lengths_of(shapes))
        load = self._load(shapes, slots, prompts, chunks, curve)
        pace = self._pace(mappings, load, users := self.users_served(mappings), is_beside=is_beside)
        parts = np.minimum(slots, shapes.columns["pipeline"])
        each = passes_by_phase(slots / parts, prompts / parts, (slots - 1 if is_beside else 0 * slots) / parts)
        steps, none = pace.steps(), np.zeros(len(mappings))
        runs = {name: first if name == "prefill" else shapes for name in steps}
        passes = {name: self._passes(run, chunks, parts, curve) for name, run in runs.items()}
        blocks = [b for name, run in runs.items() for b in self._blocks(passes[name], each[name], run, steps[name])]
        moved = self._moved(runs, passes, each, curve)
        if self.disaggregated:
            blocks.append(transfer_block(shapes, self._memory(shapes, curve).token_bytes, self.lengths_of(shapes)))
        return OpGraph(
            blocks=tuple(blocks),
            bubble=load.idle["decode"],
            relief=none,
            footprint_bytes=used_bytes[shapes.of],
            tier_footprint_bytes=self._memory(shapes, curve).away_bytes(slots)[shapes.of] if moved else none,
            tier_bytes=sum((steps[name] * of_step for name, of_step in moved.items()), none),
            phase_tier_bytes=moved,
            work=users,
            precision=self.precision,
            regime="inference",
            pace=pace,
            kernels=self.kernels(device, curve, calibrations, memory),
            rounds=partial(self._in_batches().op_graph, mappings, device, calibrations, memories),
            phase_bubble=load.idle,
        )

    def fitted_on(self, device: Device, num_devices: int) -> tuple[FitOrigin | None, Ranges]:
        """What the efficiencies that price it were fitted on, on this very device, and least and most of what it asks
        for, by names of ranges of fits; None where nothing is recorded."""
        del num_devices
        by_model = origin_of(device, "serving", variant_of(self.backend, model_name(self.shape)))
        users = self.numbers_of_users
        sizes = {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens}
        asked: Ranges = {"concurrency": (users[0], users[-1]), **{name: (size, size) for name, size in sizes.items()}}
        return by_model or origin_of(device, "serving", self.backend), asked

    def lengths_of(self, shapes: Shapes) -> Lengths:
        """Of the requests of each job whose shapes these are, shape (K,) where there are several jobs."""
        return Lengths(float(self.input_tokens), self.new_tokens, float(self.output_tokens))

    def _places(
        self, shapes: Shapes, first: Shapes, curve: ServingCurve, memories: tuple[MemoryColumns, float]
    ) -> tuple[Floats, Floats, Floats]:
        """Requests and prompts that a replica runs at once, and memory of the fullest rank, shapes (K,), by the local
        memory and the bytes of a second tier; `first` are shapes of replicas that run prompts."""
        capacity_bytes, tier_bytes = memories[0].capacity_bytes, memories[1]
        memory = self._memory(shapes, curve, tier_bytes)
        slots = memory.slots(capacity_bytes, shapes.columns["micro_batch"], self.max_batch)
        used_bytes = memory.used_bytes(slots, capacity_bytes)
        if self._is_beside(curve):
            slots = np.minimum(slots, most_in_step(self, self.lengths_of(shapes)))
            return slots, np.ones_like(slots), memory.used_bytes(slots, capacity_bytes)
        if first is shapes:
            return slots, self._prompts(slots, shapes, curve), used_bytes
        of_first = self._memory(first, curve, tier_bytes)
        prompts = self._prompts(of_first.slots(capacity_bytes, slots, self.max_batch), shapes, curve)
        return slots, prompts, np.maximum(used_bytes, of_first.used_bytes(prompts, capacity_bytes))

    def _is_beside(self, curve: ServingCurve) -> bool:
        """Whether prompts run beside tokens."""
        if self.disaggregated or self.batching == "static":
            return False
        return self.chunk is not None or curve.prefill_tokens == 0

    def _pace(self, mappings: Mappings, load: Load, users: Floats, *, is_beside: bool) -> Pace:
        if self.disaggregated:
            return pools_of(mappings, load, users)
        return PromptsBeside(load) if is_beside else PromptsFirst(load)

    def running_requests(self, mappings: Mappings, device: Device, calibrations: Calibrations | None = None) -> Floats:
        """That each replica has memory for and runs at once, of its users; shape (M,)."""
        shapes = serving_shapes(mappings)
        memory = self._memory(shapes, self._software(device, calibrations), device.tier_capacity_bytes)
        return memory.slots(device.capacity_bytes, shapes.columns["micro_batch"], self.max_batch)[shapes.of]

    def _software(self, device: Device, calibrations: Calibrations | None) -> ServingCurve:
        """Numbers of the backend, or of the rules that stand for it."""
        if self.kernel_rules is not None:
            return self.kernel_rules.software
        return serving_curve(device, self.backend, model_name(self.shape), calibrations)[0]

    def _in_batches(self) -> "TransformerInference":
        return self.model_copy(update={"batching": "static", "chunk": None})

    def _blocks(self, passes: Passes, each: Pass, shapes: Shapes, steps: Floats) -> list[Block]:
        """One step of a phase: the model's pass, and those of its draft."""
        found = passes.blocks(each, shapes, steps)
        if self.speculation is None:
            return found
        return found + draft_blocks(self.speculation, passes, each, shapes, steps)

    def _moved(
        self, runs: Mapping[str, Shapes], passes: Mapping[str, Passes], each: Mapping[str, Pass], curve: ServingCurve
    ) -> dict[str, Floats]:
        """Bytes to and from the second tier in a step of each phase, shape (M,); none where nothing may be there."""
        runs = runs if self.may_offload else {}
        memory = {name: self._memory(run, curve) for name, run in runs.items()}
        found = {p: memory[p].moved_bytes(each[p].sequences, *passes[p].cached(each[p])) for p in runs}
        return {name: moved[runs[name].of] for name, moved in found.items()}

    def _load(self, shapes: Shapes, slots: Floats, prompts: Floats, chunks: Floats, curve: ServingCurve) -> Load:
        users, of, layers = shapes.columns["micro_batch"], shapes.of, float(self.shape.layers)
        output_tokens = self.lengths_of(shapes).take(of).output_tokens
        if self.speculation is not None:
            layers += self.speculation.tokens * self.speculation.draft_layers(self.shape)
        sizes = users[of], slots[of], prompts[of], output_tokens, layers, curve, self.requests_per_user
        return Load(
            *sizes, tokens_per_step=self.tokens_per_step, chunks=chunks[of], stages=shapes.columns["pipeline"][of],
            first_token_steps=self.first_token_steps, are_equal=self.lengths == "equal",
        )  # fmt: skip

    def _prompts(self, slots: Floats, shapes: Shapes, curve: ServingCurve) -> Floats:
        """That a step takes in where running requests wait, shape (K,); a budget counts what the cache holds too."""
        if self.batching == "static":
            return slots
        return np.minimum(np.maximum(curve.prefill_tokens // self.lengths_of(shapes).input_tokens, 1.0), slots)

    def _passes(self, shapes: Shapes, chunks: Floats, micro_batches: Floats, curve: ServingCurve) -> Passes:
        """A chunk sees what the cache holds of its prompt: the shared prefix, and half of the other chunks."""
        lengths, columns = self.lengths_of(shapes), shapes.columns
        each = lengths.new_tokens / chunks
        return Passes(
            self.shape, columns["tensor"], columns["expert"],
            self.precision,
            self.activation_precision,
            self._kv(curve),
            each,
            lengths.input_tokens + (lengths.output_tokens + self.first_token_steps) / 2,
            self.tokens_each,
            lengths.input_tokens - lengths.new_tokens + (lengths.new_tokens - each) / 2,
            columns["pipeline"],
            micro_batches,
            self.kernel_rules,
            lengths.input_tokens - lengths.new_tokens,
        )  # fmt: skip

    def _memory(self, shapes: Shapes, curve: ServingCurve, tier_bytes: float = np.inf) -> ServingMemory:
        tensor, expert, pipeline = (shapes.columns[name] for name in ("tensor", "expert", "pipeline"))
        of, away = self.lengths_of(shapes), NOTHING_AWAY
        if self.may_offload:
            offload = shapes.columns["offload"].astype(np.int64)
            away = TierShares(share_in_tier(offload, "weights"), share_in_tier(offload, "cache"), tier_bytes)
        return ServingMemory(
            self.shape, tensor, expert, pipeline, self.precision, self._kv(curve), of.input_tokens - of.new_tokens,
            of.new_tokens, of.output_tokens, curve, self.batching == "static", self.speculation, self.kernel_rules,
            away,
        )  # fmt: skip

    def _kv(self, curve: ServingCurve) -> Precision:
        """Precision of the KV cache."""
        return self.kv_precision or (self.precision if curve.kv_follows_weights else "bf16")
