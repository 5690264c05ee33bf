"""Standard output that cannot be written: files are written all the same, and what has no end stops."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

import pytest

from planner.checks import check
from planner.cli import main, watch
from planner.cli.standard_output import LostOutputError, StandardStream, go_on_without_output, require_output
from planner.model.instance import Instance
from planner.model.plan import Plan

FULL = Path("/dev/full")
CLOSED = "error: stdout: cannot be written: it is closed\n"
NO_SPACE = "error: stdout: cannot be written: No space left on device\n"
LOST = [
    pytest.param("closed", 2, CLOSED, id="closed"),
    pytest.param("full", 2, NO_SPACE, id="full", marks=pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")),
]
Lose = Callable[[str], None]


@pytest.fixture
def lose(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lose]:
    """Make standard output one that is full, closed, or that nobody reads."""
    with ExitStack() as opened, monkeypatch.context() as patch:

        def replace(how: str) -> None:
            stream: TextIO | None = None
            if how == "full":
                stream = FULL.open("w")
            elif how == "unread":
                reading, writing = os.pipe()
                os.close(reading)
                stream = os.fdopen(writing, "w")
            if stream is not None:
                opened.enter_context(stream)
            patch.setattr(sys, "stdout", stream)

        yield replace


@pytest.mark.parametrize(("stdout", "code", "said"), [*LOST, ("unread", 0, "")])
@pytest.mark.parametrize("policy", ["first_fit", "cpsat"])
def test_a_plan_is_written_whatever_becomes_of_the_output(
    stdout: str, code: int, said: str, policy: str, instance: Path, tmp_path: Path, lose: Lose,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    path, page = tmp_path / "plan.json", tmp_path / "plan.html"
    lose(stdout)
    assert main(["solve", str(instance), "--policy", policy, "--plan-out", str(path), "--report", str(page)]) == code
    assert capsys.readouterr().err == said
    assert not check(Instance.load(instance), Plan.load(path))
    assert page.read_text("utf-8").startswith("<!doctype html")


@pytest.mark.parametrize(("stdout", "code", "said"), [*LOST, ("unread", 1, "")])
@pytest.mark.parametrize("command", [["--help"], ["--version"], ["new", "--fabric", "torus"], ["solve", "--help"]])
def test_a_command_without_files_says_what_is_wrong(
    stdout: str, code: int, said: str, command: list[str], lose: Lose, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    lose(stdout)
    assert main(command) == code
    assert capsys.readouterr().err == said


def test_a_command_without_files_ends_at_the_first_line_that_nobody_reads(
    instance: Path, lose: Lose, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[object] = []
    monkeypatch.setattr("planner.cli.commands.solve._search", lambda *given: searched.append(given))
    lose("unread")
    assert main(["solve", str(instance)]) == 1
    assert not searched


@pytest.mark.parametrize("stdout", ["unread", "closed"])
def test_a_watch_ends_with_its_reader_and_has_written_its_file(
    stdout: str, instance: Path, tmp_path: Path, lose: Lose, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(*given: object) -> None:
        waits.append(given)
        raise KeyboardInterrupt

    waits: list[object] = []
    monkeypatch.setattr(watch, "_wait", wait)
    lose(stdout)
    path = tmp_path / "plan.json"
    main(["solve", str(instance), "--policy", "first_fit", "--watch", "--plan-out", str(path)])
    assert path.exists()
    assert not waits


def test_bad_input_is_told_whatever_becomes_of_the_output(lose: Lose, capsys: pytest.CaptureFixture[str]) -> None:
    lose("closed")
    assert main(["solve", "nowhere.yaml"]) == 2
    assert capsys.readouterr().err.startswith("error: nowhere.yaml: does not exist")


def test_closed_errors_stop_nothing(instance: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["solve", str(instance), "--policy", "first_fit"]) == 0


def test_what_is_lost_is_swallowed_by_a_command_that_goes_on_alone(lose: Lose, monkeypatch: pytest.MonkeyPatch) -> None:
    lose("unread")
    out = StandardStream(sys.stdout)
    monkeypatch.setattr(sys, "stdout", out)
    out.write("buffered")
    assert out.lost is None
    with pytest.raises(LostOutputError):
        require_output()
    go_on_without_output()
    print("nobody reads this", flush=True)
    assert isinstance(out.lost, BrokenPipeError)
    with pytest.raises(LostOutputError):
        require_output()
