"""The frame of all commands: help, versions, lazy imports, closed pipes, and how numbers look."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import planner as package
from planner.cli import main
from planner.cli.app import COMMANDS, app
from planner.policies import POLICIES
from tests.paths import ROOT
from tests.planner.cli.conftest import Planner

HEAVY = ("ortools", "matplotlib", "numpy", "pandas", "pydantic", "yaml", "networkx", "plotly")
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def _python(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=ENVIRONMENT)
    return done.stdout


@pytest.mark.slow
def test_help_lists_the_commands_and_imports_nothing_heavy() -> None:
    out = _python(
        "import sys\nfrom planner.cli import main\nassert main(['--help']) == 0\n"
        f"print('heavy:', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert "heavy: []" in out
    assert all(name in out for name in COMMANDS)
    assert "Exit codes" in out


@pytest.mark.slow
def test_score_does_not_load_the_solver(instance: Path) -> None:
    out = _python(
        f"import sys\nfrom planner.cli import main\nassert main(['score', {str(instance)!r}]) == 0\n"
        "print('solver:', 'ortools' in sys.modules)"
    )
    assert "solver: False" in out


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_exit_codes(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert "Exit codes" in result.output


def test_ctrl_c_before_a_plan_says_so(planner: Planner, instance: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("planner.cli.inputs.load_problem", stop)
    outcome = planner("solve", instance)
    assert (outcome.code, outcome.out) == (130, "")
    assert outcome.err == "stopped before there was anything to show\n"


def test_no_arguments_show_help(planner: Planner) -> None:
    outcome = planner()
    assert outcome.code == 0
    assert "Usage" in outcome.out


def test_version_is_that_of_the_distribution(planner: Planner) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert planner("--version").out == f"photonplan {project['version']}\n"


@pytest.mark.slow
def test_a_closed_pipe_is_quiet(instance: Path) -> None:
    program = f"from planner.cli import main; main(['score', {str(instance)!r}, '--top', '500', '--json'])"
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, "-c", program], stdout=writing, stderr=subprocess.PIPE, env=ENVIRONMENT)
    os.close(writing)
    assert done.stderr == b""


@pytest.mark.slow
def test_public_names_are_found_whatever_was_imported_first() -> None:
    out = _python(
        "import planner.pipeline, planner\nfrom planner import Instance, Plan, Result, check, solve\n"
        "from planner import solve as again\nimport planner.pipeline\n"
        "print(callable(solve), solve is again is planner.solve, solve.__module__)"
    )
    assert out == "True True planner.checked_solve\n"


def test_importing_the_package_is_cheap() -> None:
    out = _python(f"import planner, sys\nprint([name for name in {HEAVY!r} if name in sys.modules])")
    assert out == "[]\n"


def test_all_public_names_exist() -> None:
    assert all(getattr(package, name) is not None for name in package.__all__)
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing


def test_help_lists_every_policy(planner: Planner) -> None:
    for command in ("solve", "compare"):
        said = planner(command, "--help").out
        assert [name for name in POLICIES if name not in said] == []


def test_shells_complete_commands(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in {"_PLANNER_COMPLETE": "complete_bash", "COMP_WORDS": "planner re", "COMP_CWORD": "1"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        main([])
    assert capsys.readouterr().out.split() == ["repair", "reconfigure", "reproduce", "replay", "restore", "resync"]
