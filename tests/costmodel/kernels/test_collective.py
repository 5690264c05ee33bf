"""Collectives inside a node: against plain arithmetic, their limits, and the measured tables."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.field_docstrings import field_descriptions
from costmodel.hardware.device import load_device
from costmodel.kernels.collective import OPERATIONS, CollectiveCurve, collective_curve, node_collective_s
from tests.oracles import node_collectives

H100 = load_device("h100")
CURVE = collective_curve(H100)[0]
OPERATION, NUM, SIZE = st.sampled_from(OPERATIONS), st.integers(2, 16), st.floats(1.0, 1e10)


@pytest.mark.slow
@given(OPERATION, NUM, SIZE)
def test_equals_plain_arithmetic(operation: str, num: int, size: float) -> None:
    expected = node_collectives.node_collective_s(operation, num, size, CURVE)
    assert float(node_collective_s(operation, num, size, H100)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
@given(OPERATION, NUM, SIZE, st.floats(1.0, 100.0))
def test_more_bytes_take_longer(operation: str, num: int, size: float, factor: float) -> None:
    shorter, longer = node_collective_s(operation, num, [size, size * factor], H100)
    assert longer >= shorter * (1 - 1e-12)


@given(st.sampled_from(["all_gather", "reduce_scatter", "all_reduce"]), st.integers(2, 6), SIZE)
def test_more_devices_take_longer(operation: str, num: int, size: float) -> None:
    fewer, more = node_collective_s(operation, [num, num + 1], size, H100)
    assert more >= fewer * (1 - 1e-12)


@given(NUM, SIZE)
def test_an_all_reduce_takes_longer_than_its_first_half(num: int, size: float) -> None:
    half, whole = node_collective_s(["reduce_scatter", "all_reduce"], num, size, H100)
    assert whole >= half


def test_alone_or_with_nothing_to_move_takes_no_time() -> None:
    assert node_collective_s("all_reduce", [1, 2, 8], [1e6, 0.0, 0.0], H100).tolist() == [0.0, 0.0, 0.0]


def test_large_messages_run_at_the_rate_of_the_links() -> None:
    """All but the start and the device's own share: bus bandwidth is near the link's rate."""
    size = 1e12
    seconds = float(node_collective_s("all_gather", 8, size, H100))
    own_s = size / 8 / CURVE.copy_bytes_per_s
    assert 7 / 8 * size / (seconds - own_s) == pytest.approx(CURVE.link_bytes_per_s, rel=0.02)


def test_columns_broadcast() -> None:
    names = np.array(OPERATIONS)[:, None]
    assert node_collective_s(names, 8, [1e3, 1e6, 1e9], H100).shape == (4, 3)
    assert node_collective_s(names[:0], 8, 1e6, H100).shape == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("broadcast", 8, 1e6), "operation: 'broadcast' is unknown"),
        (("all_reduce", 0, 1e6), "num_gpus: below 1"),
        (("all_reduce", float("nan"), 1e6), "num_gpus: below 1"),
        (("all_reduce", 8, -1.0), "message_bytes: negative"),
        (("all_reduce", 8, float("inf")), "message_bytes: negative or not finite"),
    ],
)
def test_wrong_input_is_named(arguments: tuple[Any, ...], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        node_collective_s(*arguments, H100)


def test_each_number_has_a_meaning() -> None:
    assert field_descriptions(CollectiveCurve).keys() == CollectiveCurve.model_fields.keys()
    assert len(CollectiveCurve.model_fields) <= 12


def test_a_device_without_measurements_borrows_those_of_its_architecture() -> None:
    assert collective_curve(load_device("h100"))[1]
    curve, is_fitted_here = collective_curve(load_device("h200"))
    assert curve == CURVE
    assert not is_fitted_here
