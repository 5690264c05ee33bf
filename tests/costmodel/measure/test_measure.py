"""Measuring without a GPU: names, tables by a made-up clock, and what is said where nothing can be measured."""

import subprocess
import sys
from pathlib import Path

import pytest

from costmodel.measure import Detected, NoDeviceError, catalog_alias, detect, measure
from costmodel.measure.__main__ import main
from costmodel.measure.table import Steady
from tests.costmodel.measure.measured import H200, torch
from tests.paths import ROOT

MEASURED = ROOT.parent / "shared" / "measured"


@pytest.mark.parametrize(
    ("full_name", "alias"),
    [
        ("NVIDIA H200", "h200"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA A100-SXM4-80GB", "a100"),
        ("NVIDIA B200", "b200"),
        ("NVIDIA H100 PCIe", None),
        ("NVIDIA H100 NVL", None),
        ("NVIDIA GH200 480GB", None),
        ("NVIDIA L4", None),
    ],
)
def test_the_name_of_a_gpu_leads_to_the_catalog(full_name: str, alias: str | None) -> None:
    assert catalog_alias(full_name) == alias


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(NoDeviceError, match="torch is not installed"):
        detect()
    monkeypatch.setitem(sys.modules, "torch", torch(is_available=False))
    with pytest.raises(NoDeviceError, match="no CUDA device; run this on a machine with an NVIDIA GPU"):
        detect()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch(is_available=True))
    monkeypatch.setitem(sys.modules, "costmodel.hardware.device", None)
    assert main([]) == 2
    assert "is not installed; `pip install torch pydantic nvidia-ml-py`" in capsys.readouterr().err


def test_a_gpu_that_the_catalog_lacks_keeps_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch(is_available=True))
    assert detect() == Detected("NVIDIA L4", "nvidia-l4", is_in_catalog=False, has_fp8=True)


def test_tables_have_the_columns_of_the_measured_ones(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    outcomes = measure(
        tmp_path / "new",
        H200,
        is_quick=True,
        timer=lambda case: 2e-6,
        meter=lambda case: Steady(3e-6, 450.04, 1980.0),
        on_case=lambda name, done, total: told.append((name, done, total)),
    )
    assert [outcome.path.name for outcome in outcomes] == [
        "kernel_power.csv", "gemm.csv", "attention_context.csv", "attention_generation.csv", "copies.csv",
        "network_training.csv",
    ]  # fmt: skip
    assert told[-1][1] == told[-1][2] == sum(outcome.num_measured for outcome in outcomes)
    assert (tmp_path / "new" / "copies.csv").read_text().startswith("device,kind,bytes,latency_ms\nh200,device copy,")
    head, idle, copy = (tmp_path / "new" / "kernel_power.csv").read_text().splitlines()[:3]
    assert head == "device,kernel,precision,flops,bytes,latency_ms,power_w,clock_mhz"
    assert idle == "h200,idle,bf16,0,0,0.003,450.0,1980"
    assert copy == f"h200,copy,bf16,0,{4 * 2**30},0.003,450.0,1980"
    for outcome in outcomes[1:4]:
        lines = outcome.path.read_text().splitlines()
        assert lines[1].startswith("h200,")
        assert lines[1].endswith(",0.002")
        if MEASURED.exists():
            assert lines[0] == (MEASURED / outcome.path.name).read_text().splitlines()[0]


def test_the_module_says_in_one_line_that_torch_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main(["--quick"]) == 2
    assert capsys.readouterr().err == (
        "error: torch is not installed; `pip install torch` on the machine with the GPU\n"
    )


@pytest.mark.slow
def test_measuring_needs_neither_pandas_nor_the_planner() -> None:
    others = {"planner", "pandas", "scipy", "typer", "rich", "yaml", "ortools", "networkx"}
    program = f"import sys, costmodel.measure.__main__\nprint(sorted({others} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"
