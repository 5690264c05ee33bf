"""Shared by the tests of `fragmentation` and `fragmentation`."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import ExperimentOutcome, reproduce_file

FILE = FOLDER / "lumorph" / "fragmentation.yaml"
FEW = {"jobs": 2500, "seeds": 10}
"""a fifth of what is shipped: intervals of up to 1.5 points each way instead of 0.5"""


@cache
def outcome() -> ExperimentOutcome:
    """The shipped file with fewer jobs."""
    content: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "lumorph" / FILE.name
        path.parent.mkdir()
        path.write_text(yaml.safe_dump(content | {"inputs": content["inputs"] | FEW}), encoding="utf-8")
        return reproduce_file(path)
