"""The steady state of a loop in closed form against a simulation request by request and step by step."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.serving.backends import ServingCurve
from costmodel.serving.closed_loop import START_SHARE, Load, PromptsBeside, PromptsFirst
from tests.oracles import serving as oracle

ROUNDS = 10
LAYERS = 4
NO_TIME_S = 1e-5
"""until a user's next prompt is seen: it misses the step that has just begun, and no other"""


@dataclass(frozen=True)
class Case:
    users: int
    slots: int
    prompts: int
    output_tokens: int
    decode_s: float
    each_s: float
    """more for each running request"""
    prompt_s: float
    """more for each prompt, or part of one"""
    curve: ServingCurve
    parts: int = 1
    """steps that a prompt takes"""
    gain: int = 1
    """tokens that a step gives a running request"""

    def step_s(self, running: float, prompts: float) -> float:
        """Kernels of one step."""
        return self.decode_s + self.each_s * running + self.prompt_s * prompts

    def whole_s(self, running: int, cached: int, prompts: int) -> float:
        """The same with the software, as the oracle asks for it."""
        del cached
        device_s = self.step_s(running, prompts) + LAYERS * self.curve.layer_s
        floor_s = LAYERS * self.curve.eager_layer_s if prompts else 0.0
        return max(device_s, floor_s) + self.curve.sequence_s * (self.gain * running + prompts / self.parts)

    def load(self, requests_per_user: float | None, *, are_equal: bool = True) -> Load:
        users, slots, prompts = (np.array([float(n)]) for n in (self.users, self.slots, self.prompts))
        others = {"tokens_per_step": float(self.gain), "chunks": np.full(1, float(self.parts))}
        sizes = users, slots, prompts, float(self.output_tokens), LAYERS, self.curve, requests_per_user, are_equal
        return Load(*sizes, **others)

    def simulated(self, *, is_prefill_first: bool, rounds: int = ROUNDS) -> tuple[list[float], list[float]]:
        turnaround_s = 0.0 if is_prefill_first else NO_TIME_S
        rules = oracle.Rules(
            self.users, 1, self.output_tokens, self.slots, self.prompts, is_prefill_first, turnaround_s, self.whole_s,
            parts=self.parts, gain=self.gain,
        )  # fmt: skip
        return oracle.means(oracle.serve(rules, rounds), rounds)


@st.composite
def cases(draw: st.DrawFn, *, at_once: bool = False) -> Case:
    users = draw(st.integers(2, 14))
    slots = draw(st.integers(1, users))
    curve = ServingCurve(
        layer_s=draw(st.sampled_from([0.0, 2e-4])), sequence_s=draw(st.sampled_from([0.0, 1e-4])),
        eager_layer_s=draw(st.sampled_from([0.0, 4e-3])), first_token_s=0.0, missed_steps=1.0,
    )  # fmt: skip
    return Case(
        users, slots, draw(st.sampled_from([k for k in range(1, slots + 1) if slots % k == 0])) if at_once else 1,
        draw(st.integers(16, 60)), draw(st.floats(1e-3, 9e-3)), draw(st.floats(0, 1e-4)), draw(st.floats(0, 5e-2)),
        curve,
    )  # fmt: skip


@st.composite
def guessed_in_parts(draw: st.DrawFn) -> Case:
    """Prompts that take several steps, and steps that give several tokens; all prompts find their steps."""
    case, gain, parts = draw(cases()), draw(st.integers(1, 3)), draw(st.integers(1, 6))
    steps = draw(st.integers(12, 40))
    slots = min(case.slots, 1 + steps // parts)
    return replace(case, slots=slots, output_tokens=1 + gain * steps, gain=gain, parts=parts)


def steady(by_round: list[float]) -> float:
    return float(np.mean(by_round[2:-2]))


@pytest.mark.slow
@given(cases())
@settings(deadline=None, max_examples=150)
def test_prompts_beside_answers_are_those_of_the_simulation(case: Case) -> None:
    first, between = case.simulated(is_prefill_first=False)
    beside = case.slots - 1
    times = {"decode": case.step_s(case.slots, 0), "prefill": case.step_s(beside, 1)}
    found = PromptsBeside(case.load(None)).paced({k: np.array([v]) for k, v in times.items()}, np.zeros(1, np.int64))
    prompt_s = case.whole_s(beside, 0, 1)
    assert found.tpot_s[0] == pytest.approx(steady(between), rel=0.03, abs=1.1 * prompt_s / (case.output_tokens - 1))
    assert found.ttft_s[0] == pytest.approx(steady(first), rel=0.03, abs=1.1 * prompt_s)


@pytest.mark.slow
@given(guessed_in_parts())
@settings(deadline=None, max_examples=150)
def test_parts_of_prompts_and_guessed_tokens_are_those_of_the_simulation(case: Case) -> None:
    first, between = case.simulated(is_prefill_first=False)
    beside = case.slots - 1
    times = {"decode": case.step_s(case.slots, 0), "prefill": case.step_s(beside, 1)}
    found = PromptsBeside(case.load(None)).paced({k: np.array([v]) for k, v in times.items()}, np.zeros(1, np.int64))
    part_s = case.whole_s(beside, 0, 1)
    off_s = 1.1 * part_s
    assert found.tpot_s[0] == pytest.approx(steady(between), rel=0.03, abs=off_s / (case.output_tokens - 1))
    assert found.ttft_s[0] == pytest.approx(steady(first), rel=0.03, abs=off_s)


@pytest.mark.slow
@given(cases())
@settings(deadline=None, max_examples=100)
def test_a_run_in_which_all_start_at_once_waits_as_the_simulation_does(case: Case) -> None:
    first, _ = case.simulated(is_prefill_first=False)
    beside = case.slots - 1
    times = {
        "decode": case.step_s(case.slots, 0), "prefill": case.step_s(beside, 1),
        "start": case.step_s(beside / START_SHARE, 1),
    }  # fmt: skip
    pace = PromptsBeside(case.load(float(ROUNDS)))
    found = pace.paced({k: np.array([v]) for k, v in times.items()}, np.zeros(1, np.int64))
    assert found.ttft_s[0] == pytest.approx(float(np.mean(first)), rel=0.1, abs=1.1 * case.whole_s(beside, 0, 1))


@pytest.mark.slow
@pytest.mark.parametrize(("users", "prompt_s"), [(2, 0.02), (6, 0.01), (12, 0.02), (12, 0.08)])
def test_prompts_that_come_at_any_time_wait_as_the_simulation_has_it(users: int, prompt_s: float) -> None:
    """Answers of 80 to 120 tokens, at light and heavy load."""
    curve = ServingCurve(layer_s=0, sequence_s=0, eager_layer_s=0, first_token_s=0.0)
    case = Case(users, users, 1, 100, 5e-3, 1e-4, prompt_s, curve)
    lengths = np.random.default_rng(3).integers(80, 121, (users, 60))
    rules = oracle.Rules(
        users, 1, 100, users, 1, False, NO_TIME_S, case.whole_s, lambda user, number: int(lengths[user, number])
    )
    first, between = oracle.means(oracle.serve(rules, 60), 60)
    times = {"decode": case.step_s(users, 0), "prefill": case.step_s(users - 1, 1)}
    pace = PromptsBeside(case.load(None, are_equal=False))
    found = pace.paced({k: np.array([v]) for k, v in times.items()}, np.zeros(1, np.int64))
    assert found.ttft_s[0] == pytest.approx(float(np.mean(first[10:])), rel=0.2)
    assert found.tpot_s[0] == pytest.approx(float(np.mean(between[10:])), rel=0.05)
    together = PromptsBeside(case.load(None)).paced({k: np.array([v]) for k, v in times.items()}, np.zeros(1, np.int64))
    assert found.ttft_s[0] < together.ttft_s[0]


@pytest.mark.slow
@given(cases(at_once=True))
@settings(deadline=None, max_examples=150)
def test_prompts_first_are_those_of_the_simulation(case: Case) -> None:
    """Without a turnaround, and with whole groups."""
    users = case.slots * -(-case.users // case.slots)
    case = Case(**{**vars(case), "users": users})
    first, between = case.simulated(is_prefill_first=True)
    times = {"decode": case.step_s(case.slots, 0), "prefill": case.step_s(0, case.prompts)}
    found = PromptsFirst(case.load(None)).paced({k: np.array([v]) for k, v in times.items()}, np.zeros(1, np.int64))
    assert found.tpot_s[0] == pytest.approx(steady(between), rel=0.02)
    assert found.ttft_s[0] == pytest.approx(steady(first), rel=0.02)


@given(guessed_in_parts())
@settings(deadline=None, max_examples=100)
def test_steps_of_phases_and_the_engine_make_the_whole_request(case: Case) -> None:
    """Requests of all users, token by token: Little's law."""
    times = {"decode": np.array([case.step_s(case.slots, 0)]), "prefill": np.array([case.step_s(case.slots - 1, 1)])}
    row = np.zeros(1, np.int64)
    for pace in (PromptsBeside(case.load(None)), PromptsFirst(case.load(None))):
        found, steps = pace.paced(times, row), pace.steps()
        step_s = sum(steps[name][0] * each[0] for name, each in times.items()) + found.engine_s[0]
        request_s = found.ttft_s[0] + (case.output_tokens - 1) * found.tpot_s[0]
        assert step_s * case.output_tokens == pytest.approx(request_s)
        assert found.engine_s[0] >= -1e-12


def test_one_user_by_hand() -> None:
    """A prompt of 110 ms, then two tokens of 10 ms; nothing is missed where nobody else runs."""
    curve = ServingCurve(layer_s=0, sequence_s=0, eager_layer_s=0, first_token_s=5e-3, missed_steps=2)
    one = np.ones(1)
    pace = PromptsBeside(Load(one, one, one, 3.0, LAYERS, curve))
    found = pace.paced({"decode": 0.01 * one, "prefill": 0.11 * one}, np.zeros(1, np.int64))
    assert (found.ttft_s[0], found.tpot_s[0]) == pytest.approx((0.115, 0.01))


def test_two_users_by_hand() -> None:
    """Each sees the other's prompt once, and waits for two steps with prompts before its own."""
    curve = ServingCurve(layer_s=0, sequence_s=0, eager_layer_s=0, first_token_s=0, missed_steps=2)
    two, one = np.full(1, 2.0), np.ones(1)
    pace = PromptsBeside(Load(two, two, one, 11.0, LAYERS, curve))
    found = pace.paced({"decode": 0.01 * one, "prefill": 0.11 * one}, np.zeros(1, np.int64))
    assert (found.ttft_s[0], found.tpot_s[0]) == pytest.approx((0.22, (9 * 0.01 + 0.11) / 10))
