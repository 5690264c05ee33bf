"""Shared by the tests of `replay_inputs` and `replay`."""

from pathlib import Path
from typing import Any

from tests.planner.cli.conftest import Planner


def replay(planner: Planner, files: dict[str, Path], source: str, *options: Any) -> Any:
    return planner("replay", files[source], "--cluster", files["cluster"], "--results", files["cells"], *options)
