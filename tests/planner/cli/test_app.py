"""The frame of all commands: help, versions, lazy imports, closed pipes, and how numbers look."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import planner as package
from planner.cli.app import COMMANDS, app
from planner.cli.output import number, percent, quantity
from planner.cli.progress import Progress
from planner.model.result import Incumbent
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


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "0"), (3.0, "3"), (1284.0, "1,284"), (48.6271, "48.63"), (0.07123, "0.0712"),
     (12345.6, "12,346"), (1e-7, "1e-07"), (-2.5, "-2.500")],
)  # fmt: skip
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0214, "21.4 ms"), (1.324, "1.32 s"), (0.0, "0 s"), (1e-6, "1.00 us"), (0.9999, "1.00 s"),
     (123456.0, "123 ks"), (999.9, "1.00 ks"), (None, "-")],
)  # fmt: skip
def test_quantities(value: float | None, text: str) -> None:
    assert quantity(value, "s") == text


@pytest.mark.parametrize(
    ("fraction", "text"),
    [(None, "-"), (0.0, "0 %"), (0.0561, "5.6 %"), (0.0005, "0.05 %"), (1e-9, "< 0.01 %")],
)
def test_percentages(fraction: float | None, text: str) -> None:
    assert percent(fraction) == text


def test_progress_throttles_bounds_and_keeps_every_plan() -> None:
    lines: list[str] = []
    progress = Progress(lines.append, ("value", "moves"))
    progress(Incumbent(0.1, "value", 41.8, None, "first_fit"))
    progress(Incumbent(0.2, "value", 41.8, 60.0, "bound"))
    progress(Incumbent(0.3, "value", 41.8, 59.0, "bound"))
    progress(Incumbent(0.4, "value", 47.12, None, "cpsat"))
    progress(Incumbent(0.9, "value", 47.12, 49.9, "bound"))
    progress(Incumbent(1.5, "value", 47.12, 49.9, "bound"))
    progress(Incumbent(1.9, "value", 49.9, 49.9, "proven"))
    assert [" ".join(line.split()) for line in lines] == [
        "0.1 s value 41.80 first_fit",
        "0.2 s value 41.80 bound 60 gap 30.3 %",
        "0.4 s value 47.12 bound 59 gap 20.1 % cpsat",
        "0.9 s value 47.12 bound 49.90 gap 5.6 %",
        "1.9 s value 49.90 bound 49.90 gap 0 % proven",
    ]
