"""Kernels outside what their curves were fitted on are told, and what was carried over from which device."""

import pytest

from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import load_device
from costmodel.hardware.systems import nearest_system
from costmodel.parallelism.mappings import Mappings
from costmodel.pricing.candidates import list_candidates
from costmodel.pricing.curves_used import CurveUse, carried_over, curves_used, unfitted_framework
from costmodel.pricing.search import widest_block
from tests.costmodel.pricing.unlisted_cases import workload

SERVED = {"kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": 8, "output_tokens": 64}
TRAINED = {"kind": "transformer_training", "model": "gpt3-22b", "global_batch": 64, "sequence": 2048}


def used(asked: dict[str, object], device: str, tensor: int = 4) -> list[CurveUse]:
    part, job = load_device(device), workload(asked)
    fabric = fat_tree_of(nearest_system(part), 8)
    mappings = Mappings.of(data=8 // tensor, tensor=tensor, micro_batch=1)
    return curves_used(list_candidates(job, mappings, part, fabric, blocks=widest_block), part)


@pytest.mark.parametrize(
    ("tokens", "told"),
    [(1024, []), (20_000, ["20,000 new tokens of attention of prompts (fitted on 16 to 16,384)"])],
)
def test_a_prompt_longer_than_any_measured_is_told(tokens: int, told: list[str]) -> None:
    uses = used(SERVED | {"input_tokens": tokens}, "h100-sxm")
    assert [far.told for use in uses for far in use.far] == told
    assert carried_over(uses) == []


def test_each_curve_is_held_against_what_it_is_asked() -> None:
    uses = {use.family: use for use in used(SERVED | {"input_tokens": 1024}, "h100-sxm")}
    assert set(uses) == {"serving", "gemm", "attention_context", "nccl"}
    assert uses["nccl"].asked["num_gpus"] == (4, 4)
    assert uses["attention_context"].asked["num_heads"] == (8, 8)
    assert uses["gemm"].asked["n"][1] == 128256 / 4


def test_a_product_wider_than_any_measured_is_told() -> None:
    uses = used(SERVED | {"input_tokens": 1024}, "h100-sxm", tensor=1)
    assert [far.told for use in uses for far in use.far] == [
        "128,256 columns of a matrix product (fitted on 32 to 65,536)"
    ]


def test_devices_without_a_fit_say_whose_curves_they_have() -> None:
    carried = carried_over(used(SERVED | {"input_tokens": 1024}, "h200-sxm"))
    head = "carried over to h200-sxm from h100-sxm, kernels by the peaks of both"
    kernels = "matrix products, attention of prompts, collectives in a node"
    assert carried == [f"{head}: software that serves, {kernels}"]
    trained = carried_over(used(TRAINED, "mi300x"))
    assert trained[0] == "typical, since nothing was fitted on mi300x or what it is like: efficiencies of training"


@pytest.mark.parametrize(("framework", "is_told"), [("", False), ("nemo-23.04", False), ("nemo-29.01", True)])
def test_a_framework_without_a_fit_is_told(framework: str, is_told: bool) -> None:
    job = workload(TRAINED | {"framework": framework, "precision": "fp8"})
    told = "nothing was fitted under nemo-29.01 on h100-sxm: the newest fit of training holds"
    assert unfitted_framework(job, load_device("h100-sxm")) == (told if is_told else "")
    assert unfitted_framework(workload(SERVED | {"input_tokens": 64}), load_device("h100-sxm")) == ""
