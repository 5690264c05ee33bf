"""Shared by the tests of `calibration` and `score`."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from costmodel.fabrics import Fabric, FabricBase
from costmodel.hardware.device import Device, load_device
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.candidates import Candidates, enumerate_candidates
from costmodel.pricing.score import score
from costmodel.workloads import Workload
from tests.oracles.score import score_row

DEVICE = load_device("h100-sxm")
FAT_TREE: dict[str, Any] = {
    "kind": "fat_tree", "servers": 2, "gpus_per_server": 4, "nvlink_bandwidth": "450 GB/s",
    "nvlink_alpha": "2 us", "nvlink_energy": "10 pJ/b", "network_bandwidth": "50 GB/s",
    "network_alpha": "5 us", "network_energy": "20 pJ/b",
}  # fmt: skip
WORKLOADS: dict[str, dict[str, Any]] = {
    "training": {"kind": "transformer_training", "model": "bert-large", "global_batch": 24, "sequence": 512},
    "recompute": {
        "kind": "transformer_training", "model": "gpt3-22b", "global_batch": 8, "sequence": 256,
        "micro_batch": 1, "recompute": "full",
    },
    "mixture": {
        "kind": "transformer_training", "model": "qwen3-30b-a3b", "global_batch": 8, "sequence": 1024,
        "expert": [1, 4], "precision": "fp8", "recompute": "full",
    },
    "serving": {
        "kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": 8, "input_tokens": 512,
        "output_tokens": 64,
    },
}  # fmt: skip


def candidates_of(workload: dict[str, Any], fabric: FabricBase, *sizes: int) -> Candidates:
    return enumerate_candidates(TypeAdapter(Workload).validate_python(workload), sizes, DEVICE, fabric)


def fabric_of(fields: dict[str, Any]) -> FabricBase:
    fabric: FabricBase = TypeAdapter(Fabric).validate_python(fields)
    return fabric


def assert_equal_the_oracle(
    candidates: Candidates, device: Device, fabric: FabricBase, most: int, calibrations: Any = None, rel: float = 1e-9
) -> None:
    scores = score(candidates, device, fabric, calibrations=calibrations)
    for row in range(0, len(candidates), max(1, len(candidates) // most)):
        expected = score_row(candidates, row, device, fabric, calibrations)
        found = {name: float(column[row]) for name, column in vars(scores).items() if column.ndim == 1}
        found |= {f"{name}_s": float(scores.communication_s[axis, row]) for axis, name in enumerate(DIMENSIONS)}
        assert found == pytest.approx(expected, rel=rel, abs=1e-15, nan_ok=True)


LIGHTPATH: dict[str, Any] = {
    "kind": "lightpath", "servers": 2, "tiles_per_server": 4, "wavelengths_per_tile": 8,
    "wavelength_bandwidth": "20 GB/s", "max_peers": 3, "fibers": 1, "alpha": "0.7 us",
    "reconfiguration": "40 us", "energy": "5 pJ/b",
}  # fmt: skip
FABRICS = {
    "lightpath": LIGHTPATH,
    "shared": LIGHTPATH | {"waveguides": "shared"},
    "fat_tree": FAT_TREE,
}
