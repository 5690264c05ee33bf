"""The simulation by events against one that goes step by step, and laws that both obey."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.serving.closed_loop import Load, StepTable, Waits, closed_loop
from tests.oracles import serving as oracle

ROUNDS = 3


def table(load: Load, base_s: float, sequence_s: float, prompt_s: float, cached_s: float, floor_s: float) -> StepTable:
    """Steps in which every running request and every prompt adds its time."""
    beside = range(1) if load.is_prefill_first else range(load.slots + 1)
    return StepTable(
        decode_s=[base_s * (1 + 0.01 * b) for b in range(load.slots + 1)],
        prefill_s=[
            [base_s * (1 + 0.01 * b) + g * prompt_s for b in beside] for g in range(1, load.prompts_per_step + 1)
        ],
        cached_token_s=cached_s,
        prefill_floor_s=floor_s,
        sequence_s=sequence_s,
    )


def naive(load: Load, steps: StepTable) -> Waits:
    def step_s(sequences: int, cached: int, prompts: int) -> float:
        if prompts:
            device_s = steps.prefill_s[prompts - 1][sequences] + cached * steps.cached_token_s
            device_s = max(device_s, steps.prefill_floor_s)
        else:
            device_s = steps.decode_s[sequences] + cached * steps.cached_token_s
        return device_s + steps.sequence_s * (sequences + prompts)

    rules = oracle.Rules(
        load.users,
        load.input_tokens,
        load.output_tokens,
        load.slots,
        load.prompts_per_step,
        load.is_prefill_first,
        load.turnaround_s,
        step_s,
    )
    first, between = oracle.means(oracle.serve(rules, ROUNDS), ROUNDS)
    return Waits(np.array(first), np.array(between))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Load, StepTable]:
    users = draw(st.integers(1, 12))
    slots = draw(st.integers(1, users))
    load = Load(
        users=users,
        input_tokens=draw(st.integers(1, 50)),
        output_tokens=draw(st.integers(2, 40)),
        slots=slots,
        prompts_per_step=draw(st.integers(1, slots)),
        is_prefill_first=draw(st.booleans()),
        turnaround_s=draw(st.sampled_from([0.0, 0.37e-3, 3.1e-3, 41.9e-3])),
    )
    base_s = draw(st.floats(1e-3, 9e-3))
    cached_s = draw(st.sampled_from([0.0, 1.3e-6, 17.7e-6]))
    floor_s = draw(st.sampled_from([0.0, 7.9e-3]))
    return load, table(load, base_s, draw(st.floats(0, 1e-3)), draw(st.floats(0, 5e-2)), cached_s, floor_s)


@pytest.mark.slow
@given(cases())
@settings(deadline=None, max_examples=300)
def test_it_equals_the_naive_simulation(case: tuple[Load, StepTable]) -> None:
    load, steps = case
    found, expected = closed_loop(load, steps, ROUNDS), naive(load, steps)
    assert found.first_token_s == pytest.approx(expected.first_token_s, rel=1e-9, abs=1e-12)
    assert found.token_s == pytest.approx(expected.token_s, rel=1e-9)


def test_one_user_alone_by_hand() -> None:
    """Prompt 10 + 100 ms, two more tokens at 10 ms; the next prompt is seen 5 ms after the answer."""
    load = Load(1, 8, 3, 1, 1, False, 5e-3)
    waits = closed_loop(load, StepTable([0.0, 10e-3], [[0.11, 0.11]], 0.0, 0.0, 0.0), 2)
    assert waits.first_token_s == pytest.approx([0.11, 0.115])
    assert waits.token_s == pytest.approx([10e-3, 10e-3])


def test_the_growing_context_is_summed() -> None:
    """Steps after the first token read 5, 6 and 7 cached tokens at 1 ms each beside 10 ms."""
    load = Load(1, 4, 4, 1, 1, False, 0.0)
    waits = closed_loop(load, StepTable([0.0, 10e-3], [[0.02, 0.02]], 1e-3, 0.0, 0.0), 1)
    assert waits.token_s == pytest.approx([16e-3])


def test_prompts_first_leave_answers_waiting() -> None:
    """Two users, prompts of 100 ms one by one: the first one's answer waits for the second prompt, or not."""
    steps = StepTable([0.0, 10e-3, 10e-3], [[0.1, 0.1, 0.1]], 0.0, 0.0, 0.0)
    mixed = closed_loop(Load(2, 8, 11, 2, 1, False, 0.0), steps, 1)
    first = closed_loop(Load(2, 8, 11, 2, 1, True, 0.0), steps, 1)
    assert mixed.token_s[0] == pytest.approx(((0.1 + 9 * 0.01) / 10 + 0.01) / 2)
    assert first.token_s[0] == pytest.approx(((0.1 + 10 * 0.01) / 10 + 0.01) / 2)


@given(cases())
@settings(deadline=None, max_examples=100)
def test_fewer_slots_never_shorten_the_wait_of_the_first_round(case: tuple[Load, StepTable]) -> None:
    load, steps = case
    fewer = Load(**{**vars(load), "slots": 1, "prompts_per_step": 1})
    alone = closed_loop(Load(**{**vars(fewer), "users": 1}), steps, 1)
    waits = closed_loop(fewer, steps, 1)
    assert waits.first_token_s[0] >= alone.first_token_s[0] * (1 - 1e-9)
    assert waits.token_s[0] == pytest.approx(alone.token_s[0])
