"""A closed loop of users at one engine, one step after the other and one request after the other: slow and plain."""

from collections.abc import Callable
from dataclasses import dataclass, field

ROUNDING_S = 1e-9
"""an arrival that is later by no more is in time"""


@dataclass
class Request:
    """One prompt and its answer."""

    sent_s: float
    visible_s: float
    """when the scheduler sees it"""
    token_times_s: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Rules:
    """By which the engine works; `step_s(sequences, cached tokens, prompts)` is the time of one step."""

    users: int
    input_tokens: int
    output_tokens: int
    slots: int
    prompts_per_step: int
    is_prefill_first: bool
    turnaround_s: float
    step_s: Callable[[int, int, int], float]
    tokens_of: Callable[[int, int], int] | None = None
    """of the answer to a user's request of this number, instead of `output_tokens`"""
    parts: int = 1
    """steps that a prompt takes"""
    gain: int = 1
    """tokens that a step gives a running request"""

    def answer_tokens(self, user: int, number: int) -> int:
        return self.output_tokens if self.tokens_of is None else self.tokens_of(user, number)


def serve(rules: Rules, rounds: int) -> list[list[Request]]:
    """All requests of each user, in the order in which they are sent."""
    clock_s = 0.0
    history = [[Request(0.0, 0.0)] for _ in range(rules.users)]
    queue = list(range(rules.users))
    running: list[int] = []
    reading: dict[int, int] = {}

    def is_answered(user: int) -> bool:
        own = history[user]
        return len(own[-1].token_times_s) >= rules.answer_tokens(user, len(own) - 1)

    while any(len(own) < rounds or not is_answered(user) for user, own in enumerate(history)):
        seen = [user for user in queue if history[user][-1].visible_s <= clock_s + ROUNDING_S]
        room = min(rules.slots - len(running) - len(reading), rules.prompts_per_step - len(reading))
        reading |= dict.fromkeys(seen[:room], rules.parts)
        queue = [user for user in queue if user not in reading]
        if not reading and not running:
            clock_s = min(history[user][-1].visible_s for user in queue)
            continue
        waits = bool(reading) and rules.is_prefill_first
        active = [] if waits else list(running)
        cached = sum(rules.input_tokens + len(history[user][-1].token_times_s) for user in active)
        clock_s += rules.step_s(len(active), cached, len(reading))
        reading = {user: left - 1 for user, left in reading.items()}
        taken = [user for user, left in reading.items() if not left]
        reading = {user: left for user, left in reading.items() if left}
        for user, tokens in [*((user, rules.gain) for user in active), *((user, 1) for user in taken)]:
            history[user][-1].token_times_s += [clock_s] * tokens
        running += taken
        for user in [user for user in running if is_answered(user)]:
            running.remove(user)
            if len(history[user]) < rounds:
                history[user].append(Request(clock_s, clock_s + rules.turnaround_s))
                queue.append(user)
    return history


def means(history: list[list[Request]], rounds: int) -> tuple[list[float], list[float]]:
    """Mean time to the first token, and between tokens, over the users' first, second, ... requests."""
    first, between = [], []
    for number in range(rounds):
        requests = [own[number] for own in history]
        first.append(sum(r.token_times_s[0] - r.sent_s for r in requests) / len(requests))
        gaps = [(r.token_times_s[-1] - r.token_times_s[0]) / (len(r.token_times_s) - 1) for r in requests]
        between.append(sum(gaps) / len(gaps))
    return first, between
