"""Continuous batching of a closed loop of users at each replica, in its steady state: who waits, and for how long.

Each user sends a prompt, reads the answer to its end and sends the next one. The engine works in steps: a step gives
every running request one token, and those with prompts run these whole, either beside the running requests or while
they wait. All prompts are of one length, and all answers. Requests then end in the order in which they started, and
the steady state repeats after the time of one request: S running requests take S prompts in O steps. Simulated event
by event, such a loop has the same times to some percent (the tests compare).

Axes: M mappings, C candidates.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from costmodel.parallelism.mappings import Floats, Ints
from costmodel.pricing.pace import Paced
from costmodel.serving.backends import ServingCurve


@dataclass(frozen=True)
class Load:
    """What comes to a replica, and what it runs at once; columns of shape (M,)."""

    users: Floats
    slots: Floats
    """requests that run at once, from 1 to `users`"""
    prompts: Floats
    """that one step takes in"""
    output_tokens: Floats | float
    layers: float
    """that a step runs, with those of a draft"""
    curve: ServingCurve
    requests_per_user: float | None = None
    """of a run in which all users start at once; None is the steady state"""
    are_equal: bool = True
    """whether all prompts are of one length and all answers too: users who start one after the other then send their
    next prompts one after the other. Otherwise prompts come at any time"""
    tokens_per_step: float = 1.0
    """that a step gives each running request, in the mean"""
    chunks: Floats | float = 1.0
    """steps that a prompt takes where it runs beside others"""
    stages: Floats | float = 1.0
    """through which requests go in as many micro-batches, where there are so many"""
    first_token_steps: float = 0.0
    """that follow the prompt's own step until the first token is there"""

    @property
    def micro_batches(self) -> Floats:
        return np.asarray(np.minimum(self.slots, self.stages))

    @property
    def decode_passes(self) -> Floats:
        """Time of a step that gives each running request a token over that of a micro-batch through all stages."""
        return np.asarray(np.maximum(self.micro_batches, self.stages) / self.stages)

    @property
    def prompt_passes(self) -> Floats:
        """The same of a step with prompts, which fills the stages and drains them."""
        return np.asarray((self.micro_batches + self.stages - 1) / self.stages)

    @property
    def idle(self) -> dict[str, Floats]:
        """Of the stages in a step of a phase, over the time that each works."""
        worked = self.micro_batches / self.stages
        return {"decode": self.decode_passes / worked - 1, "prefill": self.prompt_passes / worked - 1}

    @property
    def answer_steps(self) -> Floats | float:
        """After a request's prompt."""
        return self.decode_steps + self.first_token_steps

    @property
    def decode_steps(self) -> Floats | float:
        """After a request's first token."""
        return (self.output_tokens - 1) / self.tokens_per_step

    @property
    def turns(self) -> Floats:
        """How often the running requests change until each user has had one answer."""
        return np.asarray(self.users / self.slots)

    @property
    def groups(self) -> Floats:
        """Steps with prompts for all running requests, where each takes in several."""
        return np.maximum(self.slots / self.prompts, 1.0)

    def of_rows(self, mapping: Ints) -> "Load":
        """The same by candidate, each of which has one of the mappings: columns of shape (C,)."""
        columns: dict[str, Any] = {
            name: each[mapping] for name, each in vars(self).items() if isinstance(each, np.ndarray)
        }
        return replace(self, **columns)

    def decode_s(self, step_s: Floats) -> Floats:
        """A step that gives each running request a token, with its software; columns as those of the load."""
        gaps_s = self.decode_passes * (self.layers * self.curve.layer_s)
        return np.asarray(step_s + gaps_s + self.curve.sequence_s * self.tokens_per_step * self.slots)

    def prompt_s(self, step_s: Floats, sequences: Floats) -> Floats:
        """A step with prompts that yields a token for so many sequences: kernels are launched one by one."""
        layers = self.layers * self.prompt_passes
        device_s = step_s + layers * self.curve.layer_s
        floor_s = layers * self.curve.eager_layer_s
        return np.maximum(device_s, floor_s) + self.curve.sequence_s * sequences


@dataclass(frozen=True)
class PromptsBeside:
    """A step takes in one prompt beside the running requests.

    Of the O - 1 steps between the first and the last token of a request, one has the prompt of each other running
    request, or several one after the other have a part of it. Requests that started one after the other end so: a
    prompt that misses steps, misses steps with prompts. Where fewer run than users there are, it waits for a free
    place.
    """

    load: Load

    @property
    def phases(self) -> tuple[str, ...]:
        """The steady state never starts."""
        return ("decode", "prefill", "start") if self.load.requests_per_user else ("decode", "prefill")

    def steps(self) -> dict[str, Floats]:
        """Steps of each phase for one token of every user, shape (M,)."""
        load = self.load
        each, prompts = load.turns / load.output_tokens, load.slots * load.chunks
        steps = each * (load.decode_steps + load.chunks - prompts), each * prompts, 0 * each
        return dict(zip(self.phases, steps, strict=False))

    def paced(self, step_s: Mapping[str, Floats], mapping: Ints, sent_s: Mapping[str, Floats] | None = None) -> Paced:
        load = self.load.of_rows(mapping)
        slots, turns, chunks = load.slots, load.turns, load.chunks
        others = slots - 1
        decode_s = load.decode_s(step_s["decode"])
        chunk_s = load.prompt_s(step_s["prefill"], load.tokens_per_step * others + 1 / chunks)
        prompt_s, slower_s = chunks * chunk_s, others * chunks * (chunk_s - decode_s)
        answer_s = load.decode_steps * decode_s + slower_s
        if load.are_equal:
            missed_s = np.minimum(load.curve.missed_steps, load.users - 1) * chunk_s
        else:
            missed_s = _queue_s(load, others, chunks, decode_s, chunk_s)
        first_s = np.maximum(prompt_s + missed_s, (turns - 1) * answer_s + turns * prompt_s)
        if load.requests_per_user:
            at_start = load.tokens_per_step * others / START_SHARE + 1 / chunks
            start_s = chunks * load.prompt_s(step_s["start"], at_start)
            at_start_s = (turns - 1) / 2 * (answer_s + prompt_s) + (slots + 1) / 2 * start_s
            first_s = first_s + (at_start_s - first_s) / load.requests_per_user
            answer_s = answer_s - slower_s / 2 / load.requests_per_user
        return _paced(load, self.steps(), step_s, mapping, first_s, answer_s)


@dataclass(frozen=True)
class PromptsFirst:
    """Steps of prompts alone go first, while the running requests wait.

    Requests that run together then end together: rounds of all prompts, in as many steps as they need, and of the
    tokens of all.
    """

    load: Load

    phases = ("decode", "prefill")

    def steps(self) -> dict[str, Floats]:
        """Steps of each phase for one token of every user, shape (M,)."""
        load = self.load
        each = load.turns / load.output_tokens
        return {"decode": each * load.answer_steps, "prefill": each * load.groups}

    def paced(self, step_s: Mapping[str, Floats], mapping: Ints, sent_s: Mapping[str, Floats] | None = None) -> Paced:
        """Of rows that have one of the phases alone, the times are its part."""
        load = self.load.of_rows(mapping)
        turns, groups = load.turns, load.groups
        first_s, answer_s = np.zeros((2, len(mapping)))
        if "prefill" in step_s:
            prompt_s = load.prompt_s(step_s["prefill"], np.minimum(load.prompts, load.slots))
            answer_s += (groups - 1) / 2 * prompt_s
            first_s += ((groups + 1) / 2 + (turns - 1) * groups) * prompt_s
        if "decode" in step_s:
            one_s = load.decode_s(step_s["decode"])
            answer_s += load.decode_steps * one_s
            first_s += ((turns - 1) * load.answer_steps + load.first_token_steps) * one_s
        has_start = "prefill" in step_s
        return _paced(load, self.steps(), step_s, mapping, first_s, answer_s, outside=has_start)


def _queue_s(load: Load, others: Floats, chunks: Floats | float, decode_s: Floats, chunk_s: Floats) -> Floats:
    """Mean wait of a prompt that comes at any time: for the step that runs, and for the prompts of others before it.

    Answers end with steps, and go on by a token while prompts run: counted in steps, `busy` of which have a prompt,
    prompts arrive at random at a server that takes one after the other (Pollaczek and Khinchine's mean queue).
    """
    busy = np.minimum(others * chunks / np.maximum(load.decode_steps, np.finfo(np.float64).tiny), 1.0)
    ahead = busy / (2 * np.maximum(1 - busy, busy / np.maximum(others, 1.0)))
    return np.asarray((1 - busy) * decode_s + (busy + ahead * chunks) * chunk_s)


START_SHARE = 3.0
"""at the start of a run the mean prompt that is waited for runs beside a third of all requests"""


def _paced(
    load: Load,
    steps: Mapping[str, Floats],
    step_s: Mapping[str, Floats],
    mapping: Ints,
    first_s: Floats,
    answer_s: Floats,
    *,
    outside: bool = True,
) -> Paced:
    """By what a request takes from its prompt to its last token; one step of the workload is one of its tokens. `load`
    is that of the rows, `steps` by mapping."""
    first_s = first_s + (load.curve.first_token_s if outside else 0.0)
    of_rows = {name: steps[name][mapping] for name in step_s}
    kernels_s = sum((of_rows[name] * each_s for name, each_s in step_s.items()), np.zeros(len(mapping)))
    engine_s = (first_s + answer_s) / load.output_tokens - kernels_s
    beside = np.divide(engine_s, kernels_s, out=np.zeros(len(mapping)), where=kernels_s > 0)
    return Paced(
        engine_s=engine_s,
        ttft_s=first_s,
        tpot_s=answer_s / np.maximum(load.output_tokens - 1, 1),
        steps=of_rows,
        shares=of_rows,
        software_s={name: beside * each_s for name, each_s in step_s.items()},
    )
