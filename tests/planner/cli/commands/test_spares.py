"""The command that says how many spares a promise needs."""

import json
from pathlib import Path

import pytest

from planner.cli import main
from tests.paths import ROOT

LOG = "day,server,event,class\n1,0,start,GPU\n3,0,end,GPU\n5,1,start,NIC\n6,1,end,NIC\n10,2,start,GPU\n10.5,2,end,GPU\n"
CLUSTER = str(ROOT / "instances" / "replay" / "lightpath256.yaml")


@pytest.fixture
def log(tmp_path: Path) -> str:
    (tmp_path / "faults.csv").write_text(LOG)
    return str(tmp_path / "faults.csv")


def test_spares_are_printed_and_written(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["spares", CLUSTER, "--faults", log, "--fault-rules", "host=8", "--days", "10.5", "--seeds", "1"]
    assert main(given) == 0
    assert "accelerator" in capsys.readouterr().out
    assert main([*given, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["spares"]
    assert [(each["kind"], each["parts"], each["most_out"]) for each in found] == [
        ("accelerator", 256, 8), ("server", 8, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "--faults: is missing"),
        (["--faults", "LOG", "--goodput", "1.5"], "is no share that can be promised"),
        (["--faults", "LOG", "--fault-rules", "checkpoint=1h"], "checkpoint: is a rule of `planner replay` alone"),
        (["--faults", "LOG", "--fault-rules", "host=7"], "does not divide the 32 accelerators"),
    ],
)
def test_what_cannot_be_is_refused(given: list[str], said: str, log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spares", CLUSTER, *(log if each == "LOG" else each for each in given)]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
