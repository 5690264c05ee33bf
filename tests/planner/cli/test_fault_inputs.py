"""Options of faults go together."""

from pathlib import Path

import pytest

from planner.cli.fault_inputs import faults_of
from planner.model.errors import InputError


def test_responses_need_faults(tmp_path: Path) -> None:
    assert faults_of(None, None, None, "") is None
    assert faults_of(Path("failures.yaml"), None, None, "") is None
    with pytest.raises(InputError, match="--on-fault: has no faults"):
        faults_of(None, None, "repair", "")
    with pytest.raises(InputError, match="--fault-rules: has no faults"):
        faults_of(None, None, None, "spares=1")


def test_a_log_is_answered_in_three_ways_unless_told(tmp_path: Path) -> None:
    log = tmp_path / "f.csv"
    log.write_text("day,server,event,class\n1,0,start,GPU\n2,0,end,GPU\n", "utf-8")
    found = faults_of(None, log, None, "single=GPU")
    assert found is not None
    assert found.responses == ("requeue", "spare_server", "repair")
    with pytest.raises(InputError, match="classes are: GPU"):
        faults_of(None, log, None, "single=Disk")
    sampled = faults_of(Path("failures.yaml"), None, "repair", "")
    assert sampled is not None
    assert sampled.log is None
