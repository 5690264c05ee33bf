"""--watch: a command runs again when its files change, tells bad input, and ends by Ctrl-C with the last code."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from planner.cli.watch import stamp


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
    """The exit code after Ctrl-C, pressed again where a busy machine has lost it."""
    for _ in range(5):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(10)
    return process.wait(10)
