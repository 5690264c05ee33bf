"""Services on small tiles whose weights find room in modules of a pool alone."""

from typing import Any

from planner.model.instance import Instance
from tests.planner.small_racks import Fields, rack

LARGE = {
    "kind": "transformer_inference", "model": "llama-3.1-70b", "concurrency": 1,
    "input_tokens": 64, "output_tokens": 64, "offload": ["none", "weights"],
}  # fmt: skip
"""weights of 141 GB, for about half of which a tile has room"""


def pooled(*jobs: Fields, modules: int = 3, **fields: Any) -> Instance:
    """Two servers of two tiles of 4 wavelengths, each of which has room for 80 GB; a module takes one wavelength."""
    memory = {"unit": "cxl-ddr5", "units": modules, "wavelengths": 1, "shared": True}
    return Instance.parse(rack(*jobs, servers=2, tiles=2, wavelengths_per_tile=4, memory=memory, **fields))


def large(name: str, size: int = 1, **fields: Any) -> Fields:
    return {"name": name, "workload": LARGE, "accelerators": size, "utility": "linear"} | fields
