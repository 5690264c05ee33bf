"""The manual as a site: it builds without a warning, has what is made from the code, and fetches nothing."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from planner.cli.app import COMMANDS
from tests.paths import ROOT


@pytest.mark.slow
def test_the_site_builds_and_fetches_nothing(tmp_path: Path) -> None:
    config = str(ROOT / "planner" / "mkdocs.yml")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", config, "-d", str(tmp_path / "site")],
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr[-2000:]
    pages = {str(page.relative_to(tmp_path / "site")): page.read_text("utf-8") for page in tmp_path.rglob("*.html")}
    commands, fields = pages["reference/commands/index.html"], pages["reference/instance/index.html"]
    assert all(f"planner {name}" in commands for name in COMMANDS)
    assert "wavelengths_per_tile" in fields
    assert "Every candidate of a job with its score" in pages["reference/api/index.html"]
    fetched = re.compile(r"<(?:script|img|iframe)[^>]+src=.?https?://|<link[^>]+rel=.?stylesheet[^>]+https?://")
    assert [place for place, text in pages.items() if fetched.search(text)] == []
