"""What each release of Slurm was recorded to print, in the same situation (`tests.slurm.record`), is read alike.

Folders are named after the Slurm that printed; 24.11 also prints the formats of 23.11 and 24.05, which were not tried.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.cli import main
from planner.integrations.slurm.client import SlurmClient
from planner.integrations.slurm.commands import SlurmDownError
from planner.integrations.slurm.formats import FORMATS, node_row, release_in
from planner.integrations.slurm.rows import JobRow, NodeRow
from tests.slurm.sites import write_site

RECORDED = Path(__file__).with_name("recorded")
LATER = ("24.11", "24.11-v0.0.40", "24.11-v0.0.41")
OURS = "photonplan:nodes=1-1:gpus={}:type=any"


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands of a Slurm that print what lies in the folder `said`, and fail where there is nothing."""
    for name in ("squeue", "sinfo", "scontrol"):
        path = tmp_path / name
        nodes = "scontrol-nodes" if name == "scontrol" else name
        path.write_text(f'#!/bin/sh\n(echo "$0 $*"; env) >>{tmp_path}/asked\nexec cat {tmp_path}/said/{nodes}.json\n')
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def read(commands: Path, folder: str) -> tuple[dict[int, JobRow], dict[str, NodeRow]]:
    (commands / "said").unlink(missing_ok=True)
    (commands / "said").symlink_to(RECORDED / folder)
    client = SlurmClient()
    return client.jobs(), client.nodes()


def timeless(rows: dict[int, JobRow]) -> dict[int, JobRow]:
    return {job: replace(row, submitted_s=0.0, eligible_s=float(row.eligible_s > 0)) for job, row in rows.items()}


@pytest.mark.parametrize("folder", LATER)
def test_every_release_is_read_alike(commands: Path, folder: str) -> None:
    old_jobs, old_nodes = read(commands, "22.05")
    jobs, nodes = read(commands, folder)
    assert timeless(jobs) == timeless(old_jobs)
    assert nodes == old_nodes


@pytest.mark.parametrize("folder", ["22.05", *LATER])
def test_what_was_set_up_is_seen(commands: Path, folder: str) -> None:
    jobs, nodes = read(commands, folder)
    assert {name: (node.is_down, node.is_drained) for name, node in nodes.items()} == {
        "n0": (False, False), "n1": (False, True), "n2": (True, False), "n3": (False, False),
    }  # fmt: skip
    assert nodes["n1"].reason == "photonplan: no accelerator of s1 works"
    first, runs, waits = jobs[1], jobs[2], jobs[3]
    assert (first.admin_comment, first.nice, first.time_limit_s) == ("photonplan:nodes=2-2:gpus=4:type=a100", 7, 3600.0)
    assert (first.is_held, first.waits, first.reason, first.takes_gpus) == (True, True, "JobHeldUser", False)
    assert first.comment == "workload=llama weight=2"
    assert (runs.state, runs.nodes, runs.can_requeue, runs.takes_gpus) == ("RUNNING", "n0", False, True)
    assert runs.time_limit_s == 86400.0
    assert (waits.waits_for_jobs, waits.user, waits.time_limit_s) == (True, "games", None)
    assert (jobs[4].tasks, jobs[4].most_tasks, jobs[5].task, jobs[5].array_id) == ("0,2-3", 2, 1, 4)
    assert (jobs[6].tasks, jobs[6].task, jobs[6].address) == ("", 6, "6_6")
    assert jobs[8].eligible_s > jobs[8].submitted_s + 3000
    assert jobs[9].reason == "JobHeldAdmin"
    states = [jobs[job].state for job in (11, 12, 13)]
    assert states == ["COMPLETED", "FAILED", "CANCELLED"]
    assert (jobs[14].restarts, jobs[14].is_held, jobs[14].waits) == (1, True, True)


def test_no_variable_of_the_account_leaves_jobs_out(commands: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that squeue does not list counts as ended, and its accelerators as free."""
    monkeypatch.setenv("SQUEUE_STATES", "RUNNING")
    monkeypatch.setenv("SINFO_PARTITION", "none")
    read(commands, "24.11")
    said = (commands / "asked").read_text()
    assert "squeue --all --json" in said
    assert "SQUEUE_" not in said
    assert "SINFO_" not in said


@pytest.mark.parametrize("of", ["jobs", "nodes"])
def test_an_unknown_format_is_a_silence(commands: Path, of: str) -> None:
    """Nothing may be concluded from what cannot be read: least of all that jobs have ended."""
    body: dict[str, Any] = {"meta": {"plugin": {"data_parser": "data_parser/v0.0.99"}, "slurm": {"release": "30.05.1"}}}
    (commands / "said").mkdir()
    for name in ("squeue", "sinfo", "scontrol-nodes"):
        (commands / "said" / f"{name}.json").write_text(json.dumps(body | {"jobs": [], "nodes": [], "errors": []}))
    with pytest.raises(SlurmDownError, match=r"Slurm 30\.05\.1 prints JSON of the format data_parser/v0.0.99.*22\.05"):
        getattr(SlurmClient(), of)()


@pytest.mark.parametrize(
    ("said", "release"), [("slurm-wlm 24.11.5", "24.11"), ("slurm 22.05.8", "22.05"), ("slurm 25.05.0-0rc1", "25.05")]
)
def test_releases_are_read(said: str, release: str) -> None:
    assert release_in(said) == release


@pytest.mark.parametrize("release", ["21.08", "23.02", "25.05", "unknown"])
def test_an_unknown_release_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], release: str
) -> None:
    site, conf = _site_with(tmp_path, monkeypatch, f"slurm-wlm {release}.1")
    before = sorted(path for path in tmp_path.rglob("*"))
    assert main(["slurm", "install", "--config", str(site), "--slurm-conf", str(conf)]) == 2
    said = capsys.readouterr().err
    assert release in said
    assert "known are 22.05, 23.11, 24.05, 24.11" in said
    assert sorted(path for path in tmp_path.rglob("*")) == before


@pytest.mark.slow
@pytest.mark.parametrize("known", FORMATS.values(), ids=lambda known: known.release)
def test_what_was_not_tried_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], known: Any
) -> None:
    site, conf = _site_with(tmp_path, monkeypatch, f"slurm-wlm {known.release}.1")
    assert main(["slurm", "install", "--config", str(site), "--slurm-conf", str(conf), "--dry-run"]) == 0
    assert ("was not tried" in capsys.readouterr().out) == (known.release in ("23.11", "24.05"))


def _site_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> tuple[Path, Path]:
    """slurm.yaml and slurm.conf of a site whose slurmctld says that of its version."""
    program = tmp_path / "bin" / "slurmctld"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho {said}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    conf = tmp_path / "etc" / "slurm.conf"
    conf.parent.mkdir()
    conf.write_text("SelectType=select/cons_tres\nGresTypes=gpu\nNodeName=n[0-3] Gres=gpu:8\n")
    return write_site(tmp_path / "site", 4).config, conf


@pytest.mark.parametrize(
    ("state", "is_down", "is_drained"),
    [
        (["IDLE", "CLOUD", "POWERED_DOWN"], False, False),
        (["IDLE", "CLOUD", "POWERING_DOWN"], False, False),
        (["DOWN", "CLOUD", "POWERED_DOWN"], True, False),
        (["IDLE", "RESERVED"], False, True),
        (["FUTURE"], True, False),
        ("idle", False, False),
    ],
)
def test_a_node_that_sleeps_is_woken_by_its_job_and_one_of_a_reservation_takes_none(
    state: Any, is_down: bool, is_drained: bool
) -> None:
    row = node_row({"name": "n1", "state": state, "state_flags": ["POWERED_DOWN"], "reason": ""})
    assert (row.name, row.is_down, row.is_drained) == ("n1", is_down, is_drained)
