"""Measured rows of serving, and those that are left out."""

import numpy as np

from costmodel.calibrate.serving import FAMILY
from costmodel.calibrate.serving_rows import EXPERT, RANGE_RATIO, pairs
from tests.costmodel.calibrate.serving_cases import grid


def test_other_devices_of_the_catalog_and_unseen_pairs_are_predicted_and_labelled() -> None:
    for device in ("h200", "b200", "a100"):
        _, token = FAMILY.predict(grid(device, "qwen3-32b", "trtllm"), None)
        assert np.isfinite(token.predicted[token.predicted > 0]).all()
        assert not token.is_calibrated.any()
    _, token = FAMILY.predict(grid(backend="another"), None)
    assert np.isfinite(token.predicted).all()
    assert not token.is_calibrated.any()


def test_rows_that_cannot_be_simulated_are_left_out_with_the_reason() -> None:
    table = grid() | {"pp_size": np.ones(24)}
    table["pp_size"][0] = 2
    table["tp_size"][1] = 3
    table["output_tokens"][2] = 1
    table["input_tokens"][3] = 1e6
    table["model"] = np.array(["unheard-of-7b", *table["model"][1:]])
    first, token = FAMILY.predict(table, None)
    assert np.flatnonzero(np.isnan(token.predicted)).tolist() == [0, 1, 2, 3]
    assert np.array_equal(np.isnan(first.predicted), np.isnan(token.predicted))
    assert "do not fit into memory" in token.left_out
    assert FAMILY.predict(grid(), None)[0].left_out == ""


def test_rows_measured_twice_are_predicted_twice() -> None:
    once = grid()
    twice = {name: np.concatenate([column, column]) for name, column in once.items()}
    for single, both in zip(FAMILY.predict(once, None), FAMILY.predict(twice, None), strict=True):
        assert np.array_equal(both.predicted, np.tile(single.predicted, 2))
        assert both.left_out == ""


def test_experts_are_predicted_where_tensor_ranks_divide_them() -> None:
    table = grid(model="qwen3-235b-a22b") | {"tp_size": np.full(24, 8.0)}
    assert np.isnan(FAMILY.predict(table, None)[1].predicted).all(), "how they are divided is not told"
    divided = table | {EXPERT: np.where(np.arange(24) < 12, 1.0, 8.0)}
    _, token = FAMILY.predict(divided, None)
    assert np.isfinite(token.predicted).tolist() == [True] * 12 + [False] * 12
    assert "experts divided by anything but tensor ranks" in token.left_out


def test_loads_of_a_published_benchmark_have_its_lengths() -> None:
    """Uniform from 0.8 of the stated lengths: the mean is 0.9 of them, and requests do not keep together."""
    table = grid(model="llama-3.1-70b", backend="vllm")
    table["input_tokens"][:2], table["output_tokens"][:2] = 8192, 1024
    (pair,) = pairs(table)
    assert pair.loads.range_ratio.tolist() == [0.8, 0.8, *[1.0] * 22]
    job = pair.workload(8192, 1024, 4, 0.8, None)
    assert (job.input_tokens, job.output_tokens, job.lengths) == (7373, 922, "varied")
    assert pair.workload(8192, 1024, 4, 1.0, None).lengths == "equal"
    (same,) = pairs(table | {RANGE_RATIO: np.ones(24)})
    assert (same.loads.range_ratio == 1).all()
    (other,) = pairs(grid(model="qwen3-32b") | {"input_tokens": table["input_tokens"]})
    assert (other.loads.range_ratio == 1).all()
