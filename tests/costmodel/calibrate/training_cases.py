"""Shared by the tests of `calculon`, `systems` and `training`."""

import numpy as np
import pytest

from costmodel.calibrate.family import Series, Table
from costmodel.calibrate.training_rows import Row, rows_of
from tests.paths import SHARED

MEASURED = SHARED / "measured"
needs_tables = pytest.mark.skipif(not MEASURED.exists(), reason="../shared/measured is absent")

ROW: dict[str, object] = {
    "device": "b200", "devices": 8, "model": "llama3-70b", "layers": 4, "seq_len": 4096, "tp": 2, "cp": 1, "pp": 1,
    "dp": 4, "interleave": 1, "micro_batch": 1, "micro_batches": 4, "recompute": "none", "step_s": 1.0,
    "peak_alloc_gib": np.nan,
}  # fmt: skip


def of(series: tuple[Series, ...], quantity: str) -> Series:
    return next(each for each in series if each.quantity == quantity)


def table(**cells: object) -> Table:
    return {name: np.array([value]) for name, value in (ROW | cells).items()}


def row_of(**changes: object) -> Row:
    (row,) = rows_of(table(**changes))
    assert row is not None
    return row
