"""Commands of Slurm are called as lists of arguments, and what they say of themselves is told apart."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from planner.integrations.slurm.client import SlurmClient
from planner.integrations.slurm.commands import SlurmDownError, SlurmError


@pytest.fixture
def scontrol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of commands in place of Slurm's; each writes down its arguments, one on a line."""
    for name in ("scontrol", "squeue", "sinfo"):
        path = tmp_path / name
        path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/said\n. {tmp_path}/does\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "does").write_text("exit 0\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def said(folder: Path) -> list[str]:
    return (folder / "said").read_text().splitlines()


def test_arguments_are_passed_as_they_are(scontrol: Path) -> None:
    client = SlurmClient()
    client.place(7, ["n1", "n3"], "gpu:2", "photonplan: $(touch x) `y`")
    assert said(scontrol) == [
        "update", "JobId=7", "ReqNodeList=n1,n3", "NumNodes=2-2", "Gres=gpu:2", "StartTime=now",
        "AdminComment=photonplan: $(touch x) `y`",
    ]  # fmt: skip
    client.drain("n1", "photonplan: a b")
    assert said(scontrol) == ["update", "NodeName=n1", "State=DRAIN", "Reason=photonplan: a b"]
    client.hold(7)
    assert said(scontrol) == ["uhold", "7"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("does", "error", "text"),
    [
        ("echo 'Invalid job id specified' >&2; exit 1", SlurmError, "Invalid job id"),
        ("echo 'slurm_update error: Unable to contact slurm controller' >&2; exit 1", SlurmDownError, "Unable"),
        ("exit 3", SlurmError, "exit code 3"),
        ("sleep 60", SlurmDownError, "did not answer in 2 s"),
    ],
)
def test_a_refusal_is_not_a_silence(scontrol: Path, does: str, error: type[Exception], text: str) -> None:
    (scontrol / "does").write_text(does + "\n")
    with pytest.raises(error, match=text) as found:
        SlurmClient(timeout_s=2.0).release(7)
    assert type(found.value) is error


META: dict[str, Any] = {"meta": {"plugin": {"data_parser": "data_parser/v0.0.42"}}}
NOT_READ: list[Any] = [
    None, [], "x", META, META | {"jobs": None}, META | {"jobs": {}}, META | {"jobs": [None]},
    META | {"jobs": [{"job_id": 1}]}, {"errors": [1], "jobs": []}, {"meta": [], "jobs": []},
    {"meta": {"plugin": "x"}, "jobs": []}, {"meta": {"plugin": {"data_parser": ["a"]}}, "jobs": []},
]  # fmt: skip
"""what squeue may print as JSON of which nothing is known"""


@pytest.mark.parametrize("said", ["no JSON", "", *map(json.dumps, NOT_READ)])
def test_what_cannot_be_read_is_a_silence(scontrol: Path, said: str) -> None:
    (scontrol / "does").write_text(f"echo '{said}'\n")
    with pytest.raises(SlurmDownError):
        SlurmClient().jobs()


def test_no_slurm_is_a_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SlurmDownError, match="cannot be run"):
        SlurmClient().nodes()
