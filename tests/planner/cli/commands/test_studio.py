"""`planner studio`: what it refuses before it serves, and the address that it prints."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.cli import main
from tests.paths import ROOT


@pytest.mark.slow
def test_it_prints_the_address_of_the_session(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: dict[str, Any] = {}

    def run(session: Any, port: int, tell: Callable[[str], None], *, opens: bool) -> None:
        asked.update(state=session.state, port=port, opens=opens)
        tell("http://127.0.0.1:1/?token=x")

    monkeypatch.setattr("planner.studio.server.run", run)
    path = ROOT / "instances/lumorph/golden.yaml"
    assert main(["studio", str(path), "--port", "1", "--time-limit", "5"]) == 0
    assert capsys.readouterr().out == f"studio of {path} at http://127.0.0.1:1/?token=x\n"
    assert (asked["port"], asked["opens"], asked["state"]["time_limit_s"]) == (1, False, 5.0)
    assert asked["state"]["error"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"), [(["none.yaml"], "does not exist"), (["none.yaml", "--port", "65536"], "--port")]
)
def test_bad_input_is_one_line(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["studio", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.slow
def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delitem(sys.modules, "planner.studio.server", raising=False)
    monkeypatch.delitem(sys.modules, "planner.studio.app", raising=False)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    assert main(["studio", "rack.yaml"]) == 2
    assert "pip install 'photonplan[serve]'" in capsys.readouterr().err
