"""Shared by the tests of `refused`, `solve` and `summary`."""

from pathlib import Path
from typing import Any

from tests.planner.cli.conftest import Planner, fields, written


def solve(planner: Planner, *arguments: object) -> Any:
    return planner("solve", *arguments, "--threads", 1, "--time-limit", 20)


def overfull(folder: Path) -> Path:
    content = fields()
    for job in content["jobs"]:
        job |= {"required": True, "accelerators": 4}
    return written(folder, content)
