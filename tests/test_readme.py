"""The commands of the README run, as does the example of the page it leads to, and its links lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest

from planner.cli import main
from planner.model.instance import Instance
from tests.paths import ROOT

TEXT = (ROOT / "README.md").read_text("utf-8")


def test_the_example_is_planned(tmp_path: Path) -> None:
    page = (ROOT / "planner" / "docs" / "instance.md").read_text("utf-8")
    example = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[0]
    path = tmp_path / "rack16.yaml"
    path.write_text(example, "utf-8")
    assert [job.name for job in Instance.load(path).jobs] == ["chat", "pretrain"]
    assert main(["solve", str(path), "--time-limit", "10", "--gap", "1%"]) == 0


def test_the_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "instances").symlink_to(ROOT / "instances")
    monkeypatch.chdir(tmp_path)
    lines = [line.partition("  #")[0] for line in TEXT.splitlines() if line.startswith("planner ")]
    assert [main(shlex.split(line)[1:]) for line in lines] == [0, 0, 0, 0, 0]
    assert (tmp_path / "mine.html").exists()


def test_links_and_pictures_are_there() -> None:
    targets = [target for target in re.findall(r"\]\(([^)#]+)", TEXT) if "://" not in target]
    assert len(targets) > 10
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_it_is_read_at_once() -> None:
    assert len(TEXT.splitlines()) <= 80
