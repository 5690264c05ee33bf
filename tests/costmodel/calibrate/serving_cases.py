"""Shared by the tests of `serving_fit`, `serving_rows` and `serving`."""

from functools import cache

import numpy as np
import pytest

from costmodel.calibrate.family import Table
from planner.tables import read_table
from tests.paths import SHARED

MEASURED = SHARED / "measured" / "serving.csv"
needs_table = pytest.mark.skipif(not MEASURED.exists(), reason="../shared/measured/serving.csv is absent")


def grid(device: str = "h100", model: str = "Llama-3.1-8B-Instruct", backend: str = "engine") -> dict[str, np.ndarray]:
    """Rows without measurements."""
    sizes = np.array(
        [(t, i, o, c) for t in (1, 4, 8) for i in (512, 2048) for o in (64, 256) for c in (4, 32)], dtype=np.float64
    )
    names = {"model": model, "device": device, "backend": backend, "precision": "bf16"}
    table = {name: np.full(len(sizes), value) for name, value in names.items()}
    for number, name in enumerate(("tp_size", "input_tokens", "output_tokens", "concurrency")):
        table[name] = sizes[:, number]
    return table | {"ttft_ms": np.ones(len(sizes)), "tpot_ms": np.ones(len(sizes))}


@cache
def measured() -> Table:
    return read_table(MEASURED).columns
