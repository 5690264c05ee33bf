"""The example of the README is an instance that is planned, and its links lead somewhere."""

import re
from pathlib import Path

from planner.cli import main
from planner.model.instance import Instance
from tests.paths import ROOT

TEXT = (ROOT / "README.md").read_text("utf-8")


def test_the_example_is_planned(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```yaml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    path = tmp_path / "rack16.yaml"
    path.write_text(example, "utf-8")
    assert [job.name for job in Instance.load(path).jobs] == ["chat", "pretrain"]
    assert main(["solve", str(path), "--time-limit", "10", "--gap", "1%"]) == 0


def test_links_and_pictures_are_there() -> None:
    targets = [target for target in re.findall(r"\]\(([^)#]+)", TEXT) if "://" not in target]
    assert len(targets) > 10
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_it_is_read_at_once() -> None:
    assert len(TEXT.splitlines()) <= 100
