"""Two pools of replicas, of prompts and of tokens, under a closed loop of users: who waits where, and for how long.

A prompt waits for a replica of the first pool, runs there, and its cache goes to a replica of the second one, which
yields all tokens but the first. All prompts are of one length, and all answers, so that requests come to each pool
evenly: nobody waits unless a pool, or the light between them, is the bottleneck. Users who wait do so before their
prompt. With N users who decode at each of D replicas, and a(N) from the first token to the last, D N / a(N) requests a
second are served (Little); N is the most that users, prompts, light and memory allow. Simulated event by event, such a
loop has the same times to some percent (the tests compare).

Axes: M mappings, C candidates.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from costmodel.parallelism.mappings import Floats, Ints
from costmodel.pricing.pace import Paced
from costmodel.serving.closed_loop import Load

PoolResource = Literal["prompts", "caches", "memory", "tokens"]
"""speed of the pool of prompts, of what passes between the pools, room for answers, speed of the pool of tokens"""
POOL_RESOURCES: tuple[PoolResource, ...] = ("prompts", "caches", "memory", "tokens")


@dataclass(frozen=True)
class TwoPools:
    """Prompts on some replicas, tokens on the others; columns of shape (M,).

    A step of tokens takes as long as between that of a single request ("single") and that of all places ("decode").
    Messages of a replica take turns: a cache goes beside operators, never beside other messages.
    """

    load: Load
    """`users` and `slots` of a replica of tokens, `prompts` of a step of prompts"""
    users: Floats
    """of both pools"""
    prefill: Floats
    """replicas of prompts"""
    decode: Floats
    """replicas of tokens"""
    ranks: Mapping[str, Floats]
    """share of all accelerators that a replica has at work, with a prompt ("prefill"), a cache ("transfer") or tokens
    ("decode")"""
    more: Mapping[PoolResource, float] = field(default_factory=dict)
    """of each resource, over what there is: for questions of what would be; with more room, steps of tokens take longer
    as they do from a request to the next"""

    phases = ("prefill", "transfer", "single", "decode")

    def steps(self) -> dict[str, Floats]:
        """Of one request, with all places of its replica taken; its cache goes once."""
        each = np.full(len(self.prefill), 1 / self.load.output_tokens)
        return {"prefill": each, "single": 0 * each, "decode": self.load.decode_steps * each}

    def paced(self, step_s: Mapping[str, Floats], mapping: Ints, sent_s: Mapping[str, Floats]) -> Paced:
        load = self.load.of_rows(mapping)
        prompts = load.prompts
        prompt_s = load.prompt_s(step_s["prefill"], prompts) / self._more("prompts")
        single_s, full_s, slots = self._tokens(load, step_s)
        transfer_s = step_s["transfer"] / self._more("caches")
        caches_s = prompts * transfer_s
        served_s = prompt_s + caches_s + load.curve.first_token_s
        busy = np.maximum(sent_s["decode"] / full_s, sent_s["single"] / single_s)
        taken_s = np.maximum(prompt_s, sent_s["prefill"] + caches_s)
        with np.errstate(divide="ignore", over="ignore"):
            arriving = self.decode[mapping] * (1 - busy) / transfer_s
        per_s = np.minimum(self.prefill[mapping] * prompts / taken_s, arriving)
        users = self.users[mapping]
        answers = _Answers(load.decode_steps, single_s, full_s, slots, self.decode[mapping])
        running = answers.running(users, served_s, per_s)
        answer_s, full = answers.seconds(running), answers.share_of_full(running)
        first_s = users * answer_s / (self.decode[mapping] * running) - answer_s
        of_request = {
            "prefill": np.ones_like(full),
            "transfer": prompts,
            "single": (1 - full) * answers.steps,
            "decode": full * answers.steps,
        }
        steps = {name: number / load.output_tokens for name, number in of_request.items()}
        at_once = {"prefill": prompts, "transfer": prompts, "single": running, "decode": running}
        whole_s = {"prefill": prompt_s, "transfer": step_s["transfer"], "single": single_s, "decode": full_s}
        kernels_s = sum((steps[name] * each_s for name, each_s in step_s.items()), np.zeros(len(mapping)))
        return Paced(
            engine_s=(first_s + answer_s) / load.output_tokens - kernels_s,
            ttft_s=first_s,
            tpot_s=answer_s / (load.output_tokens - 1),
            steps=steps,
            software_s={name: np.maximum(whole_s[name] - step_s[name], 0.0) for name in steps},
            shares={
                name: users * self.ranks.get(name, self.ranks["decode"])[mapping] * steps[name] / np.maximum(each, 1.0)
                for name, each in at_once.items()
            },
        )

    def _tokens(self, load: Load, step_s: Mapping[str, Floats]) -> tuple[Floats, Floats, Floats]:
        """Steps of a single request and of as many as have places, and these places."""
        full_s = load.decode_s(step_s["decode"]) / self._more("tokens")
        alone = replace(load, slots=np.ones(len(load.slots)))
        single_s = np.minimum(alone.decode_s(step_s["single"]) / self._more("tokens"), full_s)
        if (room := self._more("memory")) == 1.0:
            return single_s, full_s, load.slots
        further = (room * load.slots - 1) / np.maximum(load.slots - 1, 1.0)
        return single_s, single_s + further * (full_s - single_s), room * load.slots

    def _more(self, resource: PoolResource) -> float:
        return self.more.get(resource, 1.0)


@dataclass(frozen=True)
class _Answers:
    """Tokens of the requests that run at once at a replica, columns of shape (C,)."""

    steps: Floats | float
    """after the first token"""
    single_s: Floats
    """step of one request"""
    full_s: Floats
    """step of `slots` requests"""
    slots: Floats
    replicas: Floats

    @property
    def _slope_s(self) -> Floats:
        """More time of a step for one more request: never more than the first takes."""
        more_s = (self.full_s - self.single_s) / np.maximum(self.slots - 1, 1.0)
        return np.minimum(more_s, self.single_s)

    def seconds(self, running: Floats) -> Floats:
        """Of the tokens of an answer, with so many running requests at each replica."""
        return np.asarray(self.steps * (self.single_s + self._slope_s * (np.maximum(running, 1.0) - 1)))

    def share_of_full(self, running: Floats) -> Floats:
        """Of steps: the others are those of a single request."""
        return np.asarray((np.maximum(running, 1.0) - 1) / np.maximum(self.slots - 1, 1.0))

    def running(self, users: Floats, served_s: Floats, per_s: Floats) -> Floats:
        """Requests that run at once at each replica: as many as there are users beside the `served_s` before, as
        `per_s` requests a second keep running, and as have places."""
        alone_s = self.steps * self.single_s
        few = np.minimum(users * alone_s / (alone_s + served_s), per_s * alone_s) / self.replicas
        slope_s = self.steps * self._slope_s
        fixed_s = alone_s - slope_s
        # All users: D N (1 + served / a(N)) = U, with a(N) = fixed + slope N.
        b = self.replicas * (fixed_s + served_s) - users * slope_s
        root = np.sqrt(b**2 + 4 * self.replicas * slope_s * users * fixed_s)
        of_users = np.where(b > 0, 2 * users * fixed_s / np.where(b > 0, b + root, 1.0), np.inf)
        rising = b <= 0
        of_users[rising] = (root - b)[rising] / (2 * self.replicas * slope_s)[rising]
        # A rate: D N = per_s a(N), of which there is none where answers slow down more than they gain.
        room = self.replicas - per_s * slope_s
        of_rate = np.where(room > 0, per_s * fixed_s / np.where(room > 0, room, 1.0), np.inf)
        return np.minimum(np.where(few < 1, few, np.maximum(np.minimum(of_users, of_rate), 1.0)), self.slots)
