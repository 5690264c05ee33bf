"""Tables of measurements."""

from pathlib import Path

import pytest

from costmodel.measure import measure
from costmodel.measure.table import Case, Steady
from tests.costmodel.measure.measured import H200


def test_cases_that_fail_are_skipped_with_the_first_reason(tmp_path: Path) -> None:
    def timer(case: Case) -> float:
        if case.row.get("gemm_dtype") == "fp8":
            raise RuntimeError("no such\n kernel")
        return 1e-3

    def meter(case: Case) -> Steady:
        raise RuntimeError("pynvml is missing")

    power, gemm = measure(tmp_path, H200, is_quick=True, timer=timer, meter=meter)[:2]
    assert (power.num_measured, power.why_skipped) == (0, "pynvml is missing")
    assert gemm.num_measured == gemm.num_skipped
    assert gemm.why_skipped == "no such kernel"


def test_tables_are_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "copies.csv").touch()
    with pytest.raises(FileExistsError, match=r"holds copies\.csv already"):
        measure(tmp_path, H200, is_quick=True, timer=lambda case: 1.0)
    assert not (tmp_path / "gemm.csv").exists()
