"""Words on which limit stands in the way, by prices written here."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.pricing.candidates import Candidates
from costmodel.pricing.listing import listed_and_priced
from costmodel.pricing.score import Scores
from costmodel.pricing.too_slow import loosened, rounded_up, too_slow
from costmodel.serving.limits import ServingLimits
from tests.costmodel.pricing.unlisted_cases import H100, fabric, workload

SERVED = {
    "kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": 8, "input_tokens": 512,
    "output_tokens": 64,
}  # fmt: skip


@cache
def rows() -> tuple[Candidates, Scores]:
    """On 4 accelerators one row of each tensor degree: 1, 2 and 4."""
    found, scores = listed_and_priced(workload(SERVED), [4], H100, fabric("fat_tree"))
    tensor = found.mappings.tensor[found.mapping]
    first = np.array([np.flatnonzero(tensor == degree)[0] for degree in (1, 2, 4)])
    return found.take(first), scores.take(first)


def priced(ttft_s: list[float], tpot_s: list[float]) -> tuple[Candidates, Scores]:
    """These rows with such times."""
    found, scores = rows()
    return found, replace(scores, ttft_s=np.array(ttft_s), tpot_s=np.array(tpot_s))


FIRST, NEXT = "over its limit of 500 ms", "over its limit of 40 ms"


@pytest.mark.parametrize(
    ("ttft_s", "tpot_s", "told"),
    [
        ([0.8, 0.6, 0.9], [0.01] * 3, f"the first token takes 600 ms at best (tensor 2 x data 2), 20 % {FIRST}"),
        ([0.1] * 3, [0.2, 0.4, 0.5], "the next token takes 200 ms at best (data 4), 5 times its limit of 40 ms"),
        ([0.1] * 3, [4.56, 4.9, 5.5], "the next token takes 4.56 s at best (data 4), 114 times its limit of 40 ms"),
        (
            [0.8, 0.7, 0.6], [0.06, 0.05, 0.044],
            f"the first token takes 600 ms at best (tensor 4), 20 % {FIRST} and the next token takes 44 ms at best "
            f"(tensor 4), 10 % {NEXT}",
        ),
        (
            [0.4, 0.55, 0.6], [0.06, 0.05, 0.04],
            "no split has ttft 500 ms with tpot 40 ms: where the first is met, the next token takes 60 ms at best "
            f"(data 4), 50 % {NEXT}; where the second is, the first token takes 600 ms at best (tensor 4), "
            f"20 % {FIRST}",
        ),
    ],
)  # fmt: skip
def test_the_limit_that_stands_in_the_way_is_told(ttft_s: list[float], tpot_s: list[float], told: str) -> None:
    limits = ServingLimits(ttft_s=0.5, tpot_s=0.04)
    assert too_slow(*priced(ttft_s, tpot_s), limits) == told


times = st.lists(st.floats(1e-4, 10), min_size=3, max_size=3)


@given(times, times, st.floats(1e-4, 10), st.floats(1e-4, 10))
def test_loosened_limits_are_met_by_some_row_and_no_shorter(
    ttft_s: list[float], tpot_s: list[float], ttft_limit_s: float, tpot_limit_s: float
) -> None:
    limits, (_, scores) = ServingLimits(ttft_s=ttft_limit_s, tpot_s=tpot_limit_s), priced(ttft_s, tpot_s)
    if limits.are_met(scores.ttft_s, scores.tpot_s).any():
        return
    for longer in loosened(scores, limits):
        assert longer.are_met(scores.ttft_s, scores.tpot_s).any()
        assert longer.ttft_s is not None
        assert longer.tpot_s is not None
        assert longer.ttft_s > limits.ttft_s or longer.tpot_s > limits.tpot_s


@given(st.floats(1e-6, 1e4))
def test_three_digits_and_never_less(time_s: float) -> None:
    assert time_s * (1 - 1e-9) <= rounded_up(time_s) <= time_s * 1.01 + 1e-12
    assert float(f"{rounded_up(time_s):.3g}") == pytest.approx(rounded_up(time_s), rel=1e-9)
