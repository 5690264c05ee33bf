"""A closed loop of users at one engine, event by event: who waits, who is in the batch, and for how long.

Each user sends a prompt, reads the answer to its end and then sends the next one. The engine works in steps. A step
gives every running request one token; a step that takes in prompts runs them whole, and gives each its first token.
All prompts are of one length, and all answers. Requests are therefore served, and end, in the order of their
arrival, and those that start in one step end in one step: they form a group. Steps between two events differ by the
growth of the context alone, so that a run of them is one closed form.
"""

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ROUNDS = 3
"""requests of each user that are simulated: a start, one that stands for the steady state, and the end of a run"""
ROUNDING_S = 1e-9
"""an arrival that is later than the start of a step by no more is in time: ends of answers and starts of steps often
coincide"""


@dataclass(frozen=True)
class Load:
    """What comes to the engine, and by which rules it takes requests in."""

    users: int
    input_tokens: int
    output_tokens: int
    slots: int
    """requests that run at once at most, from 1 to `users`"""
    prompts_per_step: int
    """that a step takes in at most"""
    is_prefill_first: bool
    """whether steps with prompts leave the running requests waiting"""
    turnaround_s: float
    """from the last token of an answer until the scheduler sees the user's next prompt"""


@dataclass(frozen=True)
class StepTable:
    """Times of steps at an empty cache, by running requests B = 0..slots, and what the cache adds."""

    decode_s: list[float]
    """(B,): one token for each of B requests"""
    prefill_s: list[list[float]]
    """(prompts - 1, B): so many prompts beside B running requests, or without them where prompts go first"""
    cached_token_s: float
    """reading one cached token of one request"""
    prefill_floor_s: float
    """the least time of the device in a step with prompts"""
    sequence_s: float
    """added to every step for each token that it yields"""


@dataclass(frozen=True)
class Waits:
    """Means over the users' first, second, ... requests; shape (rounds,)."""

    first_token_s: Floats
    """from the end of the user's last answer (from time 0 for the first) to the first token"""
    token_s: Floats
    """between two tokens of an answer"""


def closed_loop(load: Load, table: StepTable, rounds: int = ROUNDS) -> Waits:
    """Simulate `rounds` requests of each user, all of whom arrive at time 0."""
    return _Engine(load, table, rounds).run()


class _Engine:
    """State between two events; requests are numbered in the order of their arrival."""

    def __init__(self, load: Load, table: StepTable, rounds: int) -> None:
        self.load, self.table, self.rounds = load, table, rounds
        self.total = load.users * rounds
        self.now_s, self.step = 0.0, 0
        """clock, and tokens that a request which runs since time 0 has"""
        self.arrived, self.started, self.finished = load.users, 0, 0
        self.cached = 0
        """tokens of the running requests in the cache"""
        self.sizes: list[int] = []
        self.first_s: list[float] = []
        self.last_step: list[int] = []
        self.end_s: list[float] = []
        """groups: requests, time of their first token, step and time of their last; ended ones alone have an end"""
        self.returned = 0
        """groups whose users are back with their next prompt"""

    def run(self) -> Waits:
        load = self.load
        while self.finished < self.total:
            self._arrive()
            running = self.started - self.finished
            prompts = min(self.arrived - self.started, load.slots - running, load.prompts_per_step)
            if prompts > 0:
                self._prefill(prompts, running)
            elif running:
                self._decode(running)
            else:
                self.now_s = self.end_s[self.returned] + load.turnaround_s
            self._finish()
        return self._waits()

    def _arrive(self) -> None:
        while self.returned < len(self.end_s) and self.arrived < self.total:
            if self.end_s[self.returned] + self.load.turnaround_s > self.now_s + ROUNDING_S:
                return
            self.arrived = min(self.arrived + self.sizes[self.returned], self.total)
            self.returned += 1

    def _prefill(self, prompts: int, running: int) -> None:
        load, table = self.load, self.table
        beside = 0 if load.is_prefill_first else running
        device_s = table.prefill_s[prompts - 1][beside] + (table.cached_token_s * self.cached if beside else 0.0)
        self.now_s += max(device_s, table.prefill_floor_s) + table.sequence_s * (beside + prompts)
        if not load.is_prefill_first:
            self.step += 1
            self.cached += running
        self.cached += prompts * (load.input_tokens + 1)
        self.started += prompts
        self.sizes.append(prompts)
        self.first_s.append(self.now_s)
        self.last_step.append(self.step + load.output_tokens - 1)

    def _decode(self, running: int) -> None:
        """Steps up to the next end of an answer, or to the arrival of a prompt that has room."""
        table = self.table
        base_s = table.decode_s[running] + table.sequence_s * running + table.cached_token_s * self.cached
        growth_s = table.cached_token_s * running
        steps = self.last_step[len(self.end_s)] - self.step
        if running < self.load.slots:
            steps = self._steps_to_arrival(base_s, growth_s, steps)
        self.now_s += steps * base_s + growth_s * (steps * (steps - 1) / 2)
        self.step += steps
        self.cached += steps * running

    def _steps_to_arrival(self, base_s: float, growth_s: float, most: int) -> int:
        """The least n with n base + growth n (n - 1) / 2 >= the time that is left, and no more than `most`."""
        if self.returned == len(self.end_s) or self.arrived == self.total:
            return most
        left_s = self.end_s[self.returned] + self.load.turnaround_s - self.now_s - ROUNDING_S
        linear_s = base_s - growth_s / 2
        steps = 2 * left_s / (linear_s + sqrt(linear_s * linear_s + 2 * growth_s * left_s))
        return min(max(ceil(steps), 1), most)

    def _finish(self) -> None:
        ended = len(self.end_s)
        while ended < len(self.sizes) and self.last_step[ended] <= self.step:
            self.end_s.append(self.now_s)
            self.finished += self.sizes[ended]
            self.cached -= self.sizes[ended] * (self.load.input_tokens + self.load.output_tokens)
            ended += 1

    def _waits(self) -> Waits:
        users, shape = self.load.users, (self.rounds, self.load.users)
        first_s, end_s = np.repeat(np.array([self.first_s, self.end_s]), self.sizes, axis=1)
        sent_s = np.concatenate([np.zeros(users), end_s])[: self.total]
        gaps = max(self.load.output_tokens - 1, 1)
        return Waits(
            first_token_s=(first_s - sent_s).reshape(shape).mean(axis=1),
            token_s=((end_s - first_s) / gaps).reshape(shape).mean(axis=1),
        )
