"""`planner resync`: switches that lost their circuits get them again."""

import json
import sys
from pathlib import Path

import pytest

from planner.cli import main
from planner.integrations.switch_drivers import driver_of
from tests.planner.integrations.switch_drivers.drivers import BETWEEN, BOTH, circuits

LIT = """#!{python}
import json, pathlib, sys
told, folder = json.load(sys.stdin), pathlib.Path("{folder}")
path = folder / "lit.json"
lit = json.loads(path.read_text()) if path.exists() else []
given = [circuit for held in told["circuits"] for circuit in held["circuits"]]
if told["action"] == "report":
    print(json.dumps({{"circuits": lit}}))
elif told["action"] == "connect" and (folder / "dark").exists():
    sys.exit(3)
else:
    kept = [circuit for circuit in lit if circuit not in given]
    path.write_text(json.dumps(kept + (given if told["action"] == "connect" else [])))
"""
"""a switch that knows its circuits, not whose they are"""


@pytest.mark.slow
def test_a_switch_that_lost_its_circuits_gets_them_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, command = tmp_path / "p.db", tmp_path / "switch"
    command.write_text(LIT.format(python=sys.executable, folder=tmp_path))
    command.chmod(0o755)
    driver = driver_of({"kind": "hook", "command": [str(command)]}, tmp_path / "p.db.circuits")
    other = circuits("s2.t0", "s3.t0", fibers=["s2>s3#0"])
    driver.connect("a", BETWEEN)
    driver.connect("b", other)
    argv = ["resync", "--driver", f"hook:{command}", "--journal", str(journal)]
    assert main(argv) == 0
    assert "agree" in capsys.readouterr().out
    stray = circuits("s5.t0", "s6.t0", fibers=["s5>s6#0"])[0]["circuits"]
    (tmp_path / "lit.json").write_text(json.dumps(other[0]["circuits"] + stray))
    (tmp_path / "dark").touch()
    assert main(argv) == 1
    assert "a: its circuits are lost, and could not be set: connect a" in capsys.readouterr().out
    assert driver.applied() == {"b": other}, "whoever wants them sees that they are dark"
    (tmp_path / "dark").unlink()
    driver.connect("a", BETWEEN)
    (tmp_path / "lit.json").write_text(json.dumps(other[0]["circuits"] + stray))
    assert main(argv) == 0
    out = capsys.readouterr().out
    assert "a: its circuits were lost, and are on again" in out
    assert "s5>s6#0:w0 is on for no job" in out
    assert "b:" not in out
    lit = json.loads((tmp_path / "lit.json").read_text())
    assert all(held["circuits"][0] in lit for held in (BETWEEN[0], other[0]))
    assert driver.applied() == {"a": BETWEEN, "b": other}


@pytest.mark.parametrize("argv", [[], ["--config", "x", "--driver", "file:x"], ["--driver", "hook:/bin/true"]])
def test_a_resync_that_cannot_be_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    (tmp_path / "p.db.circuits").mkdir()
    assert main(["resync", *argv, "--journal", str(tmp_path / "p.db")]) == 2
    said = capsys.readouterr().err
    assert ("does not say what is on" if "hook:/bin/true" in argv else "give --config FILE of Slurm") in said


@pytest.mark.parametrize("kind", ["hook", "ocs", "file"])
def test_without_a_record_no_light_is_called_strange(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    command, journal, folder = tmp_path / "switch", tmp_path / "none.db", tmp_path / "none"
    command.write_text(LIT.format(python=sys.executable, folder=tmp_path))
    command.chmod(0o755)
    (tmp_path / "lit.json").write_text(json.dumps(BETWEEN[0]["circuits"]))
    before = sorted(tmp_path.iterdir())
    argv = ["resync", "--driver", f"{kind}:{folder if kind == 'file' else command}", "--journal", str(journal)]
    assert main(argv) == 2
    said = capsys.readouterr()
    place = f"{folder}: --driver" if kind == "file" else f"{journal}.circuits: --journal"
    assert said.out == ""
    assert said.err.startswith(f"error: {place}: does not exist, so that nothing says which circuits are in use")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.slow
def test_a_job_holds_all_its_circuits_where_some_are_on_and_the_rest_cannot_be_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = tmp_path / "switch"
    command.write_text(LIT.format(python=sys.executable, folder=tmp_path))
    command.chmod(0o755)
    driver = driver_of({"kind": "hook", "command": [str(command)]}, tmp_path / "p.db.circuits")
    driver.connect("a", BOTH)
    (tmp_path / "lit.json").write_text(json.dumps(BETWEEN[0]["circuits"]))
    (tmp_path / "dark").touch()
    assert main(["resync", "--driver", f"hook:{command}", "--journal", str(tmp_path / "p.db")]) == 1
    assert "circuits of before may be on" in capsys.readouterr().out
    assert driver.applied() == {"a": BOTH}
