"""What stands against pinned degrees: the first reason alone, with figures that are known."""

import pytest

from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import load_device
from costmodel.hardware.systems import load_system
from costmodel.pricing.limits import Limits
from costmodel.pricing.pinned import lack_of_pinned, with_pinned
from costmodel.pricing.unlisted import lack_of
from costmodel.workloads import TransformerInference, TransformerTraining

H100 = load_device("h100-sxm")
FABRIC = fat_tree_of(load_system("dgx-h100"), 16)
BERT = TransformerTraining(model="bert-large", global_batch=24, sequence=512)
SERVED = TransformerInference(model="llama-3.1-70b", concurrency=8, input_tokens=1000, output_tokens=24)


@pytest.mark.parametrize(
    ("pinned", "message"),
    [
        ({"tensor": 3}, "no division into tensor 3 on 8 accelerators; there are those into 1, 2, 4, 8"),
        ({"data": 2, "tensor": 5}, "no division into tensor 5 on 8 accelerators; there are those into 1, 2, 4, 8"),
        ({"tensor": 8, "data": 2}, "no division of 8 accelerators is tensor 8 x data 2; leave one of them open"),
        (
            {"tensor": 4, "data": 1, "pipeline": 1},
            "no division of 8 accelerators is tensor 4 x data 1 x pipeline 1; leave",
        ),
    ],
)
def test_a_degree_by_itself_comes_before_all_together(pinned: dict[str, int], message: str) -> None:
    mappings = BERT.mappings(8)
    assert len(with_pinned(mappings, pinned)) == 0
    assert lack_of_pinned(mappings, 8, pinned).startswith(message)


@pytest.mark.parametrize("pinned", [{}, {"tensor": 4}, {"tensor": 2, "pipeline": 2}])
def test_divisions_with_the_pinned_degrees_are_all_kept(pinned: dict[str, int]) -> None:
    mappings = BERT.mappings(8)
    kept = with_pinned(mappings, pinned)
    is_kept = [all(mappings.choice(m)[name] == degree for name, degree in pinned.items()) for m in range(len(mappings))]
    assert len(kept) == sum(is_kept) > 0
    assert all((getattr(kept, name) == degree).all() for name, degree in pinned.items())


def test_large_numbers_are_readable() -> None:
    assert "on 4,096 accelerators" in lack_of_pinned(BERT.mappings(4096), 4096, {"tensor": 3})


@pytest.mark.parametrize("tensor", [1, 2])
def test_memory_by_hand(tensor: int) -> None:
    """Of 60 GB: bf16 weights and a request of 1024 tokens, divided, and 2 GB of runtime are nine tenths of the need."""
    parameters = 70_553_706_496
    cache = 1024 * 80 * 2 * 8 * 128 * 2
    held_gb = ((2 * parameters + cache) / tensor + 2e9) / 0.9 / 1e9
    small = H100.model_copy(update={"capacity_bytes": 60e9})
    lack = lack_of(SERVED, 4, small, FABRIC, pinned={"tensor": tensor, "data": 4 // tensor})
    assert lack is not None
    said, _, rest = lack.text.partition(" GB, ")
    assert float(said.removeprefix("each accelerator would hold ")) == pytest.approx(held_gb, abs=0.3)
    more, _, division = rest.partition(" GB more than it has, at best ")
    assert float(more) == pytest.approx(held_gb - 60, abs=0.3)
    assert division == ("(data 4)" if tensor == 1 else "(tensor 2 x data 2)")


def test_where_memory_would_do_the_reason_is_another() -> None:
    """A limit of the user is told as such, with no figure of memory."""
    assert lack_of(BERT, 8, H100, FABRIC, pinned={"tensor": 8}) is None
    lack = lack_of(BERT, 8, H100, FABRIC, Limits(per_server=3), pinned={"tensor": 8})
    assert lack is not None
    assert lack.kind == "constraint"
    assert lack.missing_bytes == 0


def test_the_least_need_among_divisions_that_are_left_open() -> None:
    """Of Mixtral's 46.7e9 parameters the experts' 45.1e9 are divided by up to eight."""
    job = SERVED.model_copy(update={"model": "mixtral-8x7b"})
    experts_gb = 2 * 32 * 8 * 3 * 4096 * 14336 / 1e9
    held_gb = (2 * 46.7 - experts_gb * 7 / 8 + 1024 * 32 * 2 * 8 * 128 * 2 / 1e9 + 2) / 0.9
    lack = lack_of(job, 8, H100.model_copy(update={"capacity_bytes": 10e9}), FABRIC, pinned={"tensor": 1})
    assert lack is not None
    assert float(lack.text.split()[4]) == pytest.approx(held_gb, abs=0.3)
