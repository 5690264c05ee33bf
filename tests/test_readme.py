"""What the README shows is what its commands print: every line, caveats included; times of this machine left out."""

import re
import shlex
from pathlib import Path

import pytest

from planner.cli import main

ROOT = Path(__file__).resolve().parents[1]
TRANSCRIPTS = re.findall(r"```text\n\$ (planner .*)\n([^`]*)```", (ROOT / "README.md").read_text(encoding="utf-8"))
WALL_TIME = re.compile(r"\s+\S+ s$")


@pytest.mark.slow
@pytest.mark.parametrize(("command", "shown"), TRANSCRIPTS, ids=[command for command, _ in TRANSCRIPTS])
def test_a_transcript_is_whole(
    command: str, shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    arguments = [str(ROOT / word) if word.startswith("instances/") else word for word in shlex.split(command)[1:]]
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert [_without_times(line) for line in shown.splitlines()] == [
        _without_times(line) for line in printed.splitlines()
    ]


def _without_times(line: str) -> str:
    """Words of a line, without the wall time in its last column."""
    return " ".join(WALL_TIME.sub("", line.rstrip()).split())


def test_there_are_transcripts() -> None:
    assert [command.split()[1] for command, _ in TRANSCRIPTS] == ["compare", "score"]
