"""Files that the documents name are there, and ARCHITECTURE.md stays short."""

import re

import pytest

from tests.paths import ROOT

DOCUMENTS = ("ARCHITECTURE.md", "INSIDE.md")
SCREENS = 100
"""lines: two screens"""


@pytest.mark.parametrize("name", DOCUMENTS)
def test_paths_exist(name: str) -> None:
    text = (ROOT / "planner" / name).read_text("utf-8")
    paths = list(re.findall(r"`([\w/.]+(?:\.py|\.js|/))`", text))
    links = [path for path in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in path]
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists() and not (ROOT / "planner" / path).exists()] == []
    assert [path for path in links if not (ROOT / "planner" / path).exists()] == []


def test_the_architecture_fits_on_two_screens() -> None:
    assert len((ROOT / "planner" / "ARCHITECTURE.md").read_text("utf-8").splitlines()) <= SCREENS
