"""The shipped study was made with the inputs that are shipped, by a command that still exists."""

import hashlib
import re
from pathlib import Path

import pytest
import typer

from planner.cli.app import app
from planner.placement.job_mix import load_mix
from planner.simulate.placers import PLACERS

ROOT = Path(__file__).parent.parent
STUDY = (ROOT / "instances" / "replay" / "STUDY.md").read_text("utf-8")
INPUTS = dict(re.findall(r"^\| `(.+?)` \| `([0-9a-f]{64})` \|$", STUDY, re.MULTILINE))
TRACE = ROOT.parent / "shared" / "traces" / "philly.csv"


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_inputs_are_those_of_the_study() -> None:
    shipped = {name: digest for name, digest in INPUTS.items() if name != TRACE.name}
    assert len(shipped) == 7
    assert {name: _digest(ROOT / name) for name in shipped} == shipped


@pytest.mark.skipif(not TRACE.exists(), reason="the public trace may not be part of the project")
def test_the_trace_is_that_of_the_study() -> None:
    assert _digest(TRACE) == INPUTS[TRACE.name]


def test_its_command_is_understood() -> None:
    command = next(line for line in STUDY.splitlines() if line.startswith("planner replay")).split()
    replay = typer.main.get_command(app).commands["replay"]  # type: ignore[attr-defined]
    options = replay.make_context("replay", command[2:]).params
    assert [f"{path}" for path in options["cluster"]] == [name for name in INPUTS if name.endswith("256.yaml")]
    assert (options["seeds"], options["jobs"], options["load"]) == (20, 5000, "0.7,0.9,1.1")


def test_the_second_mix_differs_in_durations_alone() -> None:
    second = load_mix(ROOT / "instances" / "replay" / "mixes" / "recorded.yaml")
    named = {"name": second.name, "description": second.description, "durations": "recorded"}
    assert second == load_mix().model_copy(update=named)


def test_the_command_of_the_study_of_slices_is_understood() -> None:
    text = (ROOT / "planner" / "docs" / "slices.md").read_text("utf-8")
    command = next(line for line in text.splitlines() if line.startswith("planner replay")).split()
    replay = typer.main.get_command(app).commands["replay"]  # type: ignore[attr-defined]
    options = replay.make_context("replay", command[2:]).params
    assert all((ROOT / path).exists() for path in (options["demand"], options["mix"], *options["cluster"]))
    policies, table = options["policies"].split(","), re.findall(r"^\| (0\.\d+) \| `(\w+)` \|", text, re.MULTILINE)
    assert {*policies} <= {*PLACERS}
    assert table == [(load, policy) for load in options["load"].split(",") for policy in policies]
