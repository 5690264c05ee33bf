"""What slurmctld runs around a job."""

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from planner.integrations.private_files import make_private
from planner.integrations.slurm import hooks
from tests.paths import ROOT
from tests.planner.integrations.slurm.hooks_cases import processor_time_s
from tests.planner.integrations.switch_drivers.drivers import BETWEEN


@pytest.fixture
def state(tmp_path: Path) -> Path:
    for name in ("circuits", "reports", "driver"):
        make_private(tmp_path / name)
    hooks.hooks_file(tmp_path).write_text('{"kind": "file"}')
    hooks.circuits_file(tmp_path, 7).write_text(json.dumps(BETWEEN))
    return tmp_path


def run(action: str, state: Path, job: str = "7") -> int:
    return hooks.main([action, str(state)], {"SLURM_JOB_ID": job})


def report(state: Path, number: int = 7) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(hooks.report_file(state, number).read_text())
    return found


def test_circuits_are_on_while_a_job_runs(state: Path) -> None:
    for _ in range(2):
        assert run("connect", state) == 0
        assert hooks.driver_in(state).applied() == {"slurm-7": BETWEEN}
    for _ in range(2):
        assert run("release", state) == 0
        assert hooks.driver_in(state).applied() == {}
    assert not hooks.report_file(state, 7).exists()


def test_jobs_of_others_pass(state: Path) -> None:
    assert run("connect", state, "8") == 0
    assert run("release", state, "8") == 0
    assert hooks.driver_in(state).applied() == {}


def test_a_broken_part_is_reported_and_the_job_does_not_start(state: Path) -> None:
    (state / "driver" / "faults.json").write_text('["s0>s1#0"]')
    assert run("connect", state) == 1
    found = report(state)
    assert (found["action"], found["part"], found["said"]) == ("connect", "s0>s1#0", "s0>s1#0 does not work")
    assert time.time() - found["at"] < 60
    assert hooks.report_file(state, 7).stat().st_mode & 0o777 == 0o600
    assert run("release", state) == 0


@pytest.mark.parametrize("text", ["", "[{]", "[7]"])
def test_whatever_goes_wrong_is_reported(state: Path, text: str) -> None:
    hooks.circuits_file(state, 7).write_text(text)
    assert run("connect", state) == 1
    assert report(state)["part"] is None
    assert hooks.driver_in(state).applied() == {}


def test_light_that_is_just_being_released_is_waited_for(state: Path) -> None:
    driver = hooks.driver_in(state)
    driver.connect("slurm-6", BETWEEN)
    released = threading.Timer(0.3, driver.release, ["slurm-6"])
    released.start()
    assert run("connect", state) == 0, report(state)["said"]
    released.join()
    assert hooks.driver_in(state).applied() == {"slurm-7": BETWEEN}


def test_light_that_stays_in_use_is_reported(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "BUSY_WAIT_S", 0.1)
    hooks.driver_in(state).connect("slurm-6", BETWEEN)
    assert run("connect", state) == 1
    assert "in use by slurm-6" in report(state)["said"]


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        ([], {"SLURM_JOB_ID": "7"}),
        (["bind", "/tmp"], {"SLURM_JOB_ID": "7"}),
        (["connect", "/tmp"], {}),
        (["connect", "/tmp"], {"SLURM_JOB_ID": "../7"}),
        (["connect", "/tmp"], {"SLURM_JOB_ID": "７"}),
    ],
)
def test_a_wrong_call_says_how_to_call(arguments: list[str], environment: dict[str, str]) -> None:
    with pytest.raises(SystemExit, match="usage: python -m"):
        hooks.main(arguments, environment)


@pytest.mark.slow
def test_a_hook_starts_fast(state: Path) -> None:
    """In processor time, beside an interpreter that does nothing: the machine may be busy or slow."""
    command = [sys.executable, "-P", "-S", "-s", "-m", "planner.integrations.slurm.hooks", "connect", str(state)]
    env = {"PYTHONPATH": str(ROOT), "SLURM_JOB_ID": "7", "PATH": os.defpath}
    nothing = [sys.executable, "-P", "-S", "-s", "-c", "pass"]
    least_s = [min(processor_time_s(each, env) for _ in range(9)) for each in (command, nothing)]
    assert least_s[0] < 8 * max(least_s[1], 0.01)  # the clock counts hundredths
