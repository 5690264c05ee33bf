"""What a wrong command line is told."""

import pytest

from tests.planner.cli.conftest import Planner


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("wiring", "new, check, shifts"),
        ("tables", "mlperf, aiconfigurator"),
        ("slurm", "install, run, status, fail, repair"),
        ("kubernetes", "manifests, scheduler"),
    ],
)
def test_a_missing_command_is_told_with_those_that_there_are(planner: Planner, group: str, names: str) -> None:
    outcome = planner(group)
    assert outcome.code == 2
    said = f"a command is missing; one of {names}"
    assert outcome.err == f"error: planner {group}: {said}; see `planner {group} --help`\n"
