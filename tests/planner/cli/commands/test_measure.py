"""`planner measure`: tables of an accelerator, and what is told where it cannot be."""

import sys
from pathlib import Path

import pytest

import costmodel.measure
from costmodel.measure import Detected
from costmodel.measure.table import Case, Steady
from tests.planner.cli.conftest import Planner


def test_measuring_without_torch_is_one_line(planner: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    outcome = planner("calibrate", "--measure")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "error: --measure: torch is not installed; `pip install torch` on the machine with the GPU\n"
    )


DETECTED = Detected("NVIDIA H200", "h200", is_in_catalog=True, has_fp8=False)


def draws_400_w(case: Case) -> Steady:
    return Steady(1e-3, 400.0, 1980.0)


def test_measured_tables_are_told(planner: Planner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = costmodel.measure.measure
    monkeypatch.setattr(costmodel.measure, "detect", lambda: DETECTED)
    made_up = {"timer": lambda case: 1e-3, "meter": draws_400_w}
    monkeypatch.setattr(costmodel.measure, "measure", lambda *given, **options: original(*given, **options, **made_up))
    outcome = planner("calibrate", "--measure", "--quick", "-o", tmp_path / "new")
    assert outcome.code == 0
    assert "measuring NVIDIA H200 as h200" in outcome.out
    assert f"planner calibrate {tmp_path}/new/gemm.csv" in outcome.out
    assert f"planner validate {tmp_path}/new/kernel_power.csv" in outcome.out
    again = planner("calibrate", "--measure", "--quick", "-o", tmp_path / "new")
    assert again.code == 2
    assert "holds kernel_power.csv already" in again.err


def test_ctrl_c_keeps_the_rows(planner: Planner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = costmodel.measure.measure
    times = iter([1e-3, 2e-3])

    def timer(case: object) -> float:
        for seconds in times:
            return seconds
        raise KeyboardInterrupt

    monkeypatch.setattr(costmodel.measure, "detect", lambda: DETECTED)
    monkeypatch.setattr(
        costmodel.measure,
        "measure",
        lambda *given, **options: original(*given, **options, timer=timer, meter=draws_400_w),
    )
    outcome = planner("calibrate", "--measure", "--quick", "-o", tmp_path)
    assert outcome.code == 130
    assert "rows measured so far are in" in outcome.out
    assert (tmp_path / "gemm.csv").read_text().splitlines()[1:] == [
        "h200,bfloat16,1,128,128,1", "h200,bfloat16,1,128,1024,2",
    ]  # fmt: skip
