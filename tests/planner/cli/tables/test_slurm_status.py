"""State of Slurm in plain words."""

import pytest

from planner.cli.tables.slurm_status import show
from planner.integrations.slurm.status import StatusReport
from tests.planner.integrations.slurm.status_cases import PLACE


def test_it_is_shown_in_plain_words(capsys: pytest.CaptureFixture[str]) -> None:
    running = {"job": 7, "shown": "5_2", "user": "alice", "state": "RUNNING", "nodes": {"n0": [0, 1]}}
    running["circuits"] = PLACE.circuits
    waiting = {
        "job": 8,
        "shown": "8_[1,3,5,7,9,11,13,15,17,19,21,23]",
        "user": "bob\x1b[2J",
        "nodes": [1, 2],
        "gpus": 4,
        "why": "no room",
    }
    trouble = "job 9: circuits could not be released: \x1b[2J"
    show(StatusReport(True, 0.25, "", [running | {"on": True}], [waiting], ["s0>s1#0"], [], [], [trouble]))
    out = capsys.readouterr().out
    for part in (
        "5_2",
        "8_[1,3,5,7,9,11,13,15,17,1...]",
        "n0:0,1",
        "1 on",
        "1-2 x 4",
        "no room",
        "daemon: runs, last tick 0.2 s ago",
        "failed: s0>s1#0",
        "agree",
        "job 9: circuits could not be released: ",
    ):
        assert part in out
    assert "\x1b" not in out
    show(StatusReport(False, 0.0, "no answer", [], [], [], [], ["job 7 runs elsewhere"], []))
    out = capsys.readouterr().out
    assert "does not run" in out
    assert "no answer" in out
    assert "job 7 runs elsewhere" in out
    assert "agree" not in out
