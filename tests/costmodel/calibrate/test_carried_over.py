"""Curves of one device on the tables of another: what a device without a fit may expect."""

import numpy as np
import pytest

from costmodel.calibrate import FAMILIES
from costmodel.calibrate.carried_over import carried_over
from costmodel.hardware.device import load_device
from planner.tables import read_table
from tests.paths import SHARED

MEASURED = SHARED / "measured"
needs_tables = pytest.mark.skipif(not MEASURED.is_dir(), reason="the folder of measured tables is not here")


def test_no_curve_of_another_device_is_left() -> None:
    a100 = load_device("a100")
    parts = carried_over(a100)
    assert {part.device for part in parts} >= {"h100-sxm", "b200-sxm", "a100-sxm"}
    assert all("carried over from a100-sxm" in part.source for part in parts)
    assert all(part.variant("gemm", "fp8") is None for part in parts)
    own = next(part for part in parts if part.device == "a100-sxm" and "nccl" in part.families)
    assert own.families["nccl"]["node"]["link_bytes_per_s"] == pytest.approx(216.8e9)


@needs_tables
@pytest.mark.parametrize(
    ("kind", "fitted", "judged", "most"),
    [
        ("gemm", "h100", "a100", 0.115),
        ("gemm", "a100", "h100", 0.07),
        ("nccl", "h100", "a100", 0.17),
        ("nccl", "a100", "h100", 0.205),
        ("attention_context", "h100", "a100", 0.135),
        ("attention_context", "a100", "h100", 0.155),
        ("attention_generation", "h100", "a100", 0.095),
        ("attention_generation", "a100", "h100", 0.095),
    ],
)
def test_mean_error_where_nothing_was_fitted(kind: str, fitted: str, judged: str, most: float) -> None:
    """With absolute rates instead: 0.20 and 0.30, 0.39 and 0.62, 0.13 and 0.15, 0.21 and 0.25."""
    table = read_table(MEASURED / f"{kind}.csv").columns
    rows = {name: column[table["device"] == judged] for name, column in table.items()}
    (series,) = FAMILIES[kind].predict(rows, carried_over(load_device(fitted)))
    error = np.abs(series.predicted / series.measured - 1.0)
    assert np.nanmean(error) < most
