"""--watch: a command runs again when its files change, tells bad input, and ends by Ctrl-C with the last code."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from planner.cli.watch import stamp, watched


def test_tables_that_an_instance_names_are_watched(tmp_path: Path) -> None:
    instance, jobs, other = (tmp_path / name for name in ("one.yaml", "jobs.csv", "other.csv"))
    instance.write_text("jobs: jobs.csv\n")
    jobs.write_text("name\n")
    other.write_text("name\n")
    before = stamp([instance])
    other.write_text("name,model\n")
    assert stamp([instance]) == before
    jobs.write_text("name,model\n")
    assert stamp([instance]) != before
    jobs.unlink()
    assert set(stamp([instance])) == {instance}
    assert stamp([tmp_path / "absent.yaml"]) == {}


def _until(stream: IO[str], words: str) -> str:
    """All that is told up to a line with these words."""
    told = ""
    for line in stream:
        told += line
        if words in line:
            return told
    raise AssertionError(told)


@pytest.mark.slow
def test_each_change_is_answered_until_ctrl_c(instance: Path) -> None:
    command = [sys.executable, "-c", "import sys; from planner.cli import main; sys.exit(main())"]
    path = os.pathsep.join(path for path in sys.path if path)
    with subprocess.Popen(
        [*command, "score", str(instance), "--top", "1", "--watch"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | {"PYTHONPATH": path},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            good = instance.read_text()
            assert "candidates listed" in _until(process.stdout, "Ctrl-C ends")
            _replace(instance, good.replace('"big"', '"huge"'))
            assert "huge" in _until(process.stdout, "Ctrl-C ends")
            _replace(instance, "jobs: 3\n")
            assert f"error: {instance}" in _until(process.stdout, "Ctrl-C ends")
            assert _ended(process) == 2
        finally:
            process.kill()


def _replace(path: Path, text: str) -> None:
    """At once, so that nobody reads half of it."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def _ended(process: subprocess.Popen[str]) -> int:
    """The exit code after one Ctrl-C."""
    process.send_signal(signal.SIGINT)
    return process.wait(60)


class _Lost:
    """What loses the KeyboardInterrupt of a Ctrl-C, as Python does with all that finalizers raise."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_ctrl_c_that_python_loses_ends_all_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run() -> int:
        lost = _Lost()
        del lost
        return 7

    before = signal.getsignal(signal.SIGINT)
    assert watched(run, [tmp_path / "one.yaml"]) == 7
    assert "waiting" not in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before


def test_a_ctrl_c_in_the_middle_of_a_run_ends_with_the_last_code(tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_text("1")
    runs = list[int]()

    def run() -> int:
        runs.append(1)
        if len(runs) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        path.write_text("1" * (len(runs) + 1))
        return 4

    assert watched(run, [path]) == 4
    assert len(runs) == 2
