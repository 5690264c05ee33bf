"""A shell completes commands, options and the values that the catalog and the tables of plug-ins have."""

import shutil
import subprocess

import pytest

from planner.cli import main
from planner.cli.completions import devices, fabrics, models, policies
from planner.fabrics import fabrics as known_fabrics
from planner.policies import POLICIES


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("planner mig", ["migrate"]),
        ("planner solve a.yaml --time", ["--time-limit"]),
        ("planner compare a.yaml --policies first_fit,server", ["first_fit,server_aligned"]),
    ],
)
def test_bash_completes(typed: str, offered: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The script that `planner --show-completion` prints, in a real bash."""
    with pytest.raises(SystemExit):
        main(["--show-completion", "bash"])
    words = typed.split()
    script = f"{capsys.readouterr().out}\nCOMP_WORDS=({' '.join(words)})\nCOMP_CWORD={len(words) - 1}\n"
    script += '_planner_completion planner\necho "${COMPREPLY[@]}"\n'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == offered


def test_values_are_those_that_options_take() -> None:
    assert set(policies("")) >= set(POLICIES)
    assert set(fabrics("")) == set(known_fabrics())
    assert "h100-sxm" in devices("h1")
    assert all(name.startswith("llama-3.1") for name in models("llama-3.1"))
    assert "llama-3.1-70b" in models("llama")


def test_a_policy_is_offered_once_in_a_list() -> None:
    assert policies("first_fit,first") == []
    assert policies("first_fit,best") == ["first_fit,best_fit"]
