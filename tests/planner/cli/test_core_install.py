"""What needs no extra runs where none is installed, as the README's first command leaves it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.planner.checks import good

OF_EXTRAS = ("httpx", "fastapi", "starlette", "uvicorn", "grpc", "pygnmi", "matplotlib", "plotly", "scipy", "pyarrow",
             "ray", "prometheus_client")  # fmt: skip
"""modules that extras bring"""
BLOCKED = f"import sys; sys.modules.update(dict.fromkeys({OF_EXTRAS!r}))"
RUN = f"{BLOCKED}; import json; from planner.cli import main; sys.exit(max(map(main, json.loads(sys.argv[1]))))"


@pytest.mark.slow
def test_commands_that_need_no_extra(tmp_path: Path) -> None:
    instance, plan = good.ring()
    paths = [tmp_path / "instance.json", tmp_path / "plan.json"]
    for path, each in zip(paths, (instance, plan), strict=True):
        path.write_text(each.model_dump_json(by_alias=True, exclude_none=True))
    rails, cables = str(ROOT / "instances" / "ocs_rail" / "rails64.yaml"), str(tmp_path / "wiring.csv")
    formats = ("msccl", "chakra", "tuner", "circuits", "graphml")
    commands = [
        ["check", *map(str, paths)],
        *(["export", *map(str, paths), "--format", name, "-o", str(tmp_path / name)] for name in formats),
        ["wiring", "new", rails, "-o", cables],
        ["wiring", "check", rails, cables],
        ["solve", str(paths[0]), "--report", str(tmp_path / "page.html")],
    ]
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(commands)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
