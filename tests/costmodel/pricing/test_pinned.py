"""What stands against pinned degrees: the first reason alone, with figures that are known."""

import pytest

from costmodel.hardware.device import load_device
from costmodel.pricing.pinned import lack_of_pinned
from costmodel.workloads import TransformerInference, TransformerTraining

H100 = load_device("h100-sxm")
BERT = TransformerTraining(model="bert-large", global_batch=24, sequence=512)
SERVED = TransformerInference(model="llama-3.1-70b", concurrency=8, input_tokens=1000, output_tokens=24)


@pytest.mark.parametrize(
    ("pinned", "message"),
    [
        ({"tensor": 3}, "no division into tensor 3 on 8 devices; there are those into 1, 2, 4, 8"),
        ({"data": 2, "tensor": 5}, "no division into tensor 5 on 8 devices; there are those into 1, 2, 4, 8"),
        ({"tensor": 8, "data": 2}, "no division of 8 devices is tensor 8 x data 2; leave one of them open"),
        ({"tensor": 4, "data": 1, "pipeline": 1}, "no division of 8 devices is tensor 4 x data 1 x pipeline 1; leave"),
    ],
)
def test_a_degree_by_itself_comes_before_all_together(pinned: dict[str, int], message: str) -> None:
    assert lack_of_pinned(BERT, 8, H100, pinned).startswith(message)


def test_devices_that_nothing_divides() -> None:
    served = SERVED.model_copy(update={"concurrency": 3})
    text = lack_of_pinned(served, 67, H100, {"tensor": 67})
    assert text == "no division into tensor 67 on 67 devices; there are those into none"


def test_large_numbers_are_readable() -> None:
    assert "on 4,096 devices" in lack_of_pinned(BERT, 4096, H100, {"tensor": 3})


@pytest.mark.parametrize("tensor", [1, 2])
def test_memory_by_hand(tensor: int) -> None:
    """Of 60 GB: bf16 weights and a request of 1024 tokens, divided, and 2 GB of runtime are nine tenths of the need."""
    parameters = 70_553_706_496
    cache = 1024 * 80 * 2 * 8 * 128 * 2
    held_gb = ((2 * parameters + cache) / tensor + 2e9) / 0.9 / 1e9
    small = H100.model_copy(update={"capacity_bytes": 60e9})
    text = lack_of_pinned(SERVED, 4, small, {"tensor": tensor, "data": 4 // tensor})
    said, _, rest = text.partition(" would hold ")
    assert said == f"tensor {tensor} x data {4 // tensor}"
    held, more = rest.split(" GB on each device, ")
    assert float(held) == pytest.approx(held_gb, abs=0.3)
    assert float(more.removesuffix(" GB more than it has")) == pytest.approx(held_gb - 60, abs=0.3)


def test_the_least_need_among_divisions_that_are_left_open() -> None:
    """Of Mixtral's 46.7e9 parameters the experts' 45.1e9 are divided by up to eight."""
    job = SERVED.model_copy(update={"model": "mixtral-8x7b"})
    experts_gb = 2 * 32 * 8 * 3 * 4096 * 14336 / 1e9
    held_gb = (2 * 46.7 - experts_gb * 7 / 8 + 1024 * 32 * 2 * 8 * 128 * 2 / 1e9 + 2) / 0.9
    text = lack_of_pinned(job, 8, H100.model_copy(update={"capacity_bytes": 10e9}), {"tensor": 1})
    assert float(text.split()[4]) == pytest.approx(held_gb, abs=0.3)
