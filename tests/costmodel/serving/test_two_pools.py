"""Two pools under a closed loop of users, beside a simulation of it, event by event."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import composite

from costmodel.pricing.pace import Paced
from costmodel.serving.backends import ServingCurve
from costmodel.serving.closed_loop import Load
from costmodel.serving.two_pools import TwoPools
from tests.oracles.two_pools import simulate

PLAIN = ServingCurve.model_validate(
    {"matrix_slowdown": 1, "layer": 0, "sequence": 0, "eager_layer": 0, "first_token": 0, "missed_steps": 0}
)


@dataclass(frozen=True)
class Case:
    users: int
    prefill: int
    decode: int
    slots: int
    output_tokens: int
    prompt_s: float
    cache_s: float
    single_s: float
    more_s: float
    """of a step, for each further request"""

    def step_s(self, running: float) -> float:
        return self.single_s + self.more_s * (running - 1)

    def paced(self, cache_s: float | None = None, sent_s: float = 0.0) -> Paced:
        one = np.ones(1)
        load = Load(one * -(-self.users // self.decode), one * self.slots, one, float(self.output_tokens), 1, PLAIN)
        share = one / (self.prefill + self.decode)
        ranks = dict.fromkeys(("prefill", "transfer", "decode"), share)
        pools = TwoPools(load, one * self.users, one * self.prefill, one * self.decode, ranks)
        times = {
            "prefill": self.prompt_s, "transfer": self.cache_s if cache_s is None else cache_s,
            "single": self.single_s, "decode": self.step_s(self.slots),
        }  # fmt: skip
        sent = dict.fromkeys(times, one * sent_s)
        return pools.paced({name: one * seconds for name, seconds in times.items()}, np.zeros(1, np.int64), sent)


@composite
def cases(draw: st.DrawFn) -> Case:
    decode = draw(st.integers(1, 4))
    users = draw(st.integers(decode, 60))
    slots = draw(st.integers(1, -(-users // decode)))
    single_s = draw(st.floats(1e-3, 2e-2))
    more_s = draw(st.floats(0, single_s / 20))
    return Case(
        users, draw(st.integers(1, 4)), decode, slots, draw(st.integers(50, 200)), draw(st.floats(1e-3, 0.5)),
        draw(st.floats(1e-5, 5e-2)), single_s, more_s,
    )  # fmt: skip


@pytest.mark.slow
@example(Case(30, 3, 2, 6, 51, 0.035, 0.0298, 0.0029, 0.0))
@example(Case(30, 3, 1, 20, 51, 0.266, 0.00014, 0.00113, 5.6e-5))
@given(cases())
@settings(deadline=None, max_examples=15)
def test_requests_are_served_as_in_the_simulation(case: Case) -> None:
    """To the time of a step, for which a cache waits to be taken in, and the unevenness of few users."""
    if case.cache_s > case.prompt_s:
        return
    first_s, token_s = simulate(
        users=case.users, prefill=case.prefill, decode=case.decode, slots=case.slots, rounds=12,
        output_tokens=case.output_tokens, prompt_s=case.prompt_s, cache_s=case.cache_s, step_s=case.step_s,
    )  # fmt: skip
    found = case.paced()
    request_s = found.ttft_s[0] + (case.output_tokens - 1) * found.tpot_s[0]
    slack_s = case.step_s(case.slots) * (1 + 1 / case.decode)
    assert request_s == pytest.approx(first_s + (case.output_tokens - 1) * token_s, rel=0.06, abs=slack_s)
    assert found.tpot_s[0] == pytest.approx(token_s, rel=0.06)
    assert found.ttft_s[0] == pytest.approx(first_s, rel=0.06, abs=slack_s + 0.06 * request_s)


@given(cases(), st.floats(0, 1), st.floats(0, 0.9))
@settings(deadline=None, max_examples=60)
def test_laws(case: Case, less: float, sent: float) -> None:
    """More light raises no time to first token and serves no fewer; a decode step is none slower than a full one; the
    phases and the engine make the whole request; energies count each token once."""
    sent_s = sent * min(case.single_s, case.prompt_s)
    found, faster = case.paced(sent_s=sent_s), case.paced(case.cache_s * less, sent_s)
    tokens = case.output_tokens - 1
    assert faster.ttft_s[0] <= found.ttft_s[0] * (1 + 1e-9)
    assert faster.ttft_s[0] + tokens * faster.tpot_s[0] <= (found.ttft_s[0] + tokens * found.tpot_s[0]) * (1 + 1e-9)
    assert found.tpot_s[0] <= case.step_s(case.slots) * (1 + 1e-9)
    assert found.tpot_s[0] >= case.single_s * (1 - 1e-9)
    assert found.ttft_s[0] >= (case.prompt_s + case.cache_s) * (1 - 1e-9)
    times = {
        "prefill": case.prompt_s, "transfer": case.cache_s,
        "single": case.single_s, "decode": case.step_s(case.slots),
    }  # fmt: skip
    of_request = sum(found.steps[name][0] * seconds for name, seconds in times.items()) + found.engine_s[0]
    assert of_request * case.output_tokens == pytest.approx(found.ttft_s[0] + tokens * found.tpot_s[0])
    assert found.engine_s[0] >= -1e-9 * of_request
    replicas, requests = case.prefill + case.decode, case.users / case.output_tokens
    assert found.shares["prefill"][0] * replicas == pytest.approx(requests)
    assert found.shares["transfer"][0] * replicas == pytest.approx(requests)


def test_no_pool_and_no_light_serves_more_than_it_can() -> None:
    case = Case(64, 2, 2, 32, 101, 0.1, 0.02, 0.01, 0.0)
    rate = case.users / (case.paced().ttft_s[0] + 100 * case.paced().tpot_s[0])
    assert rate == pytest.approx(2 / 0.1)
    """two replicas of prompts, each ten a second: the bottleneck"""
    slow = case.paced(cache_s=0.2)
    assert case.users / (slow.ttft_s[0] + 100 * slow.tpot_s[0]) == pytest.approx(2 / 0.2)
    """two caches at a time"""
    shared = case.paced(cache_s=0.2, sent_s=0.005)
    assert case.users / (shared.ttft_s[0] + 100 * shared.tpot_s[0]) == pytest.approx(2 * 0.5 / 0.2)
    """half of each step of tokens is taken by other messages"""


def test_by_hand_without_a_bottleneck() -> None:
    found = Case(4, 4, 4, 1, 11, 0.5, 0.1, 0.01, 0.0).paced()
    assert found.ttft_s[0] == pytest.approx(0.6)
    assert found.tpot_s[0] == pytest.approx(0.01)
