"""What keeps a workload from having a candidate, held against listing itself."""

from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter

from costmodel.fabrics import Fabric
from costmodel.hardware.device import load_device
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.remedies import remedies
from costmodel.pricing.unlisted import KINDS, Limits, lack_of
from costmodel.workloads import Workload
from tests.fabrics import FABRICS

H100 = load_device("h100-sxm")
LLAMA = {"kind": "transformer_training", "model": "llama-3.1-405b", "global_batch": 2048, "sequence": 4096}
WORKLOADS: dict[str, dict[str, Any]] = {
    "small": {"kind": "transformer_training", "model": "bert-large", "global_batch": 24, "sequence": 512},
    "offloads": {
        "kind": "transformer_training", "model": "gpt3-22b", "global_batch": 16, "sequence": 2048,
        "offload": ["none", "weights+activations+optimizer"],
    },
    "experts": {
        "kind": "transformer_training", "model": "mixtral-8x7b", "global_batch": 32, "sequence": 1024, "expert": 8,
    },
    "served": {
        "kind": "transformer_inference", "model": "mixtral-8x7b", "concurrency": 4, "input_tokens": 512,
        "output_tokens": 64,
    },
    "tables": {"kind": "dlrm", "mode": "training", "model": "dlrm-dcnv2", "batch": 4096},
}  # fmt: skip
ASKED = (Limits(), Limits(one_server=True), Limits(per_server=3), Limits(per_server=4), Limits(collective="radix"))


def workload(fields: dict[str, Any]) -> Workload:
    return TypeAdapter(Workload).validate_python(fields)  # type: ignore[no-any-return]


def fabric(name: str, **changes: Any) -> Any:
    return TypeAdapter(Fabric).validate_python(FABRICS[name] | changes)


def count(asked: Workload, size: int, on: Any, limits: Limits = ASKED[0]) -> int:
    if size > on.most_devices_of_a_job:
        return 0
    return len(enumerate_candidates(asked, [size], H100, on, **limits._asdict()))


@pytest.mark.slow
@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("job", WORKLOADS)
def test_something_lacks_exactly_where_nothing_is_listed(name: str, job: str) -> None:
    on, asked, kinds = fabric(name), workload(WORKLOADS[job]), set()
    for size in (1, 3, 4, 7, 8, 16, 64):
        for limits in ASKED:
            lack = lack_of(asked, size, H100, on, limits)
            assert (lack is None) == bool(count(asked, size, on, limits)), (size, limits, lack)
            kinds.add(None if lack is None else lack.kind)
    assert {"limit"} < kinds <= {None, *KINDS}


@pytest.mark.parametrize("size", [256, 512, 1024])
def test_layers_without_equal_stages_are_named_and_the_remedy_works(size: int) -> None:
    on = fabric("fat_tree", servers=128)
    lack = lack_of(workload(LLAMA), size, H100, on)
    assert lack is not None
    assert lack.kind == "memory"
    assert "126 layers divide into 2 equal stages at most" in lack.text
    assert "uneven_stages: true" in remedies(workload(LLAMA), size, H100, on)
    assert count(workload(LLAMA | {"uneven_stages": True}), size, on)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fat_tree", "memory_ring"])
@pytest.mark.parametrize(
    ("fields", "size"),
    [
        (LLAMA, 32),
        (WORKLOADS["small"], 5),
        (WORKLOADS["small"] | {"global_batch": 8, "micro_batch": 3}, 8),
        (WORKLOADS["experts"] | {"expert": 3}, 8),
        ({"kind": "transformer_training", "model": "gpt3-22b", "global_batch": 16, "sequence": 2048}, 4),
    ],
)
def test_each_remedy_by_itself_lists_something(name: str, fields: dict[str, Any], size: int) -> None:
    on = fabric(name)
    assert not count(workload(fields), size, on)
    for remedy in remedies(workload(fields), size, H100, on):
        changes: dict[str, Any] = {}
        for part in remedy.split(" with "):
            changes |= {part.split()[0]: None} if part.endswith("left out") else yaml.safe_load(part)
        assert count(workload(fields | changes), size, on), remedy


@pytest.mark.parametrize(("name", "told"), [("lightpath", "expert groups of 8"), ("memory_ring", "expert groups of 8")])
def test_groups_without_a_collective_are_named(name: str, told: str) -> None:
    asked = WORKLOADS["experts"] | {"model": SMALL_EXPERTS}
    lack = lack_of(workload(asked), 8, H100, fabric(name))
    assert lack is not None
    assert lack.kind == "groups"
    assert f"no collective for {told}" in lack.text
    assert "expert left out" in remedies(workload(asked), 8, H100, fabric(name))


def test_context_groups_over_servers_of_rails_are_named() -> None:
    asked = WORKLOADS["small"] | {"sequence": 16384, "context": 32}
    lack = lack_of(workload(asked), 32, H100, fabric("ocs_rail"))
    assert lack is not None
    assert "context groups of 32" in lack.text


SMALL_EXPERTS = {
    "layers": 8, "hidden": 512, "heads": 8, "kv_heads": 8, "head_dim": 64, "ffn": 1024, "experts": 8,
    "experts_per_token": 2, "vocabulary": 32000,
}  # fmt: skip
