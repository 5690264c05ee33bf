"""Shared by the tests of `remedies` and `unlisted`."""

from typing import Any

from pydantic import TypeAdapter

from costmodel.fabrics import Fabric
from costmodel.hardware.device import load_device
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.limits import Limits
from costmodel.pricing.listing import listed_and_priced
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
    "pools": {
        "kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": 12, "input_tokens": 512,
        "output_tokens": 64, "disaggregated": True,
    },
    "tables": {"kind": "dlrm", "mode": "training", "model": "dlrm-dcnv2", "batch": 4096},
}  # fmt: skip
HURRIED = {
    "kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": 4, "input_tokens": 512,
    "output_tokens": 64, "limits": {"ttft": "60 ms", "tpot": "5 ms"},
}  # fmt: skip
ASKED = (
    Limits(),
    Limits(one_setting=True),
    Limits(one_server=True),
    Limits(per_server=3),
    Limits(per_server=4),
    Limits(collective="radix"),
)


def workload(fields: dict[str, Any]) -> Workload:
    return TypeAdapter(Workload).validate_python(fields)  # type: ignore[no-any-return]


def fabric(name: str, **changes: Any) -> Any:
    return TypeAdapter(Fabric).validate_python(FABRICS[name] | changes)


def count(asked: Workload, size: int, on: Any, limits: Limits = ASKED[0]) -> int:
    if size > on.most_devices_of_a_job:
        return 0
    if asked.limits is not None:
        return len(listed_and_priced(asked, [size], H100, on, limits)[0])
    of_places = {name: getattr(limits, name) for name in ("one_server", "per_server", "collective")}
    return len(enumerate_candidates(asked, [size], H100, on, **of_places))
