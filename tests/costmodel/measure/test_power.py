"""Power of steady kernels: means over readings, by a device that is made up."""

import sys

import pytest

from costmodel.measure import power
from costmodel.measure.table import Case
from tests.costmodel.measure.measured import torch


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Draws 300 W at 1,500 MHz; each launch takes 8 ms, a case is twice in it. What ran, by name."""
    ran: list[str] = []
    module = torch(is_available=True)
    module.__dict__["cuda"].__dict__.update(power_draw=lambda: 300_000, clock_rate=lambda: 1500)
    monkeypatch.setitem(sys.modules, "torch", module)

    def elapsed_s(launch: object) -> float:
        runs = launch() if callable(launch) else None
        return 0.008 * len(runs) if isinstance(runs, list) else 0.008

    monkeypatch.setattr(power, "ready", lambda case: (lambda: ran.append(case.row["kernel"]), 2))
    monkeypatch.setattr(power, "elapsed_s", elapsed_s)
    monkeypatch.setattr(power, "hand_back", lambda case: None)
    monkeypatch.setattr(power, "SETTLING_S", 0.0)
    monkeypatch.setattr(power, "COOLING_S", 0.0)
    return ran


def case_of(name: str) -> Case:
    return next(case for case in power.plan(is_quick=True, has_fp8=True).cases if case.row["kernel"] == name)


def test_time_is_that_of_one_run(device: list[str]) -> None:
    found = power.steady(case_of("copy"))
    assert (found.run_s, found.power_w, found.clock_mhz) == (pytest.approx(0.004), 300.0, 1500.0)
    assert device.count("copy") >= 5 * power.READINGS


def test_nothing_runs_where_idle_power_is_read(device: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power, "READING_S", 0.0)
    found = power.steady(case_of("idle"))
    assert (found.run_s, found.power_w, device) == (0.0, 300.0, [])


def test_operations_and_bytes_are_those_of_the_shapes() -> None:
    rows = {str(case.row["kernel"]): case.row for case in power.plan(is_quick=True, has_fp8=False).cases}
    assert rows["product of 1 rows"]["flops"] == 2 * 16384**2
    assert rows["product of 1 rows"]["bytes"] == 2 * (16384**2 + 2 * 16384)
    assert rows["attention that decodes"]["bytes"] == 2 * 64 * 8 * 4096 * 128 * 2
    assert {row["precision"] for row in rows.values()} == {"bf16"}
