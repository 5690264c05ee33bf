"""A fault log as input: rows, hosts, draws; and the shared log where it is there."""

from pathlib import Path

import pytest

from planner.model.errors import InputError
from planner.whatif.fault_log import DAY_S, FaultMap, faults_on, read_fault_log
from tests.paths import ROOT
from tests.planner.simulate.grounds import cluster

HEAD = "day,server,event,level,class,description\n"
ROWS = """1,0,start,H,GPU,x
2,5,start,H,Fan,y
2,0,start,H,Fan,z
3,0,end,H,Fan,z
4,0,end,H,GPU,x
8,9,start,H,GPU,x
9,9,end,H,GPU,x
"""
SHARED = ROOT.parent / "shared" / "traces" / "faults.csv"


def _log(path: Path, rows: str) -> Path:
    path.write_text(HEAD + rows, "utf-8")
    return path


def test_ends_close_the_fault_of_their_class_and_open_ones_last_to_the_end(tmp_path: Path) -> None:
    log = read_fault_log(_log(tmp_path / "f.csv", ROWS))
    days = [(f.server, f.fault_class, f.start_s / DAY_S, f.end_s / DAY_S) for f in log.faults]
    assert days == [(0, "GPU", 1, 4), (0, "Fan", 2, 3), (5, "Fan", 2, 9), (9, "GPU", 8, 9)]
    assert log.length_s == 9 * DAY_S


@pytest.mark.parametrize(
    ("rows", "where"),
    [
        ("1,0,end,,,\n", "line 2"),
        ("1,0,stop,,,\n", "column 'event'"),
        ("1,0.5,start,,,\n", "column 'server'"),
        ("-1,0,start,,,\n", "column 'day'"),
        ("0,0,start,,,\n", "has no length"),
    ],
)
def test_what_is_no_fault_is_refused(tmp_path: Path, rows: str, where: str) -> None:
    with pytest.raises(InputError, match=r"f\.csv") as caught:
        read_fault_log(_log(tmp_path / "f.csv", rows))
    assert where in str(caught.value)


def test_servers_map_by_number_wrap_or_are_drawn(tmp_path: Path) -> None:
    log, fabric = read_fault_log(_log(tmp_path / "f.csv", ROWS)), cluster("fat_tree").fabric
    by_number = faults_on(log, fabric, FaultMap(), 9 * DAY_S, 0)
    assert [fault.parts[0] for fault in by_number] == ["s0.g0", "s0.g0"]
    assert len(by_number[0].parts) == 8
    wrapped = faults_on(log, fabric, FaultMap("wrap"), 9 * DAY_S, 0)
    assert [fault.parts[0] for fault in wrapped] == ["s0.g0", "s0.g0", "s1.g0", "s1.g0"]
    drawn = [faults_on(log, fabric, FaultMap("draw", population=10), 9 * DAY_S, seed) for seed in range(200)]
    assert sum(map(len, drawn)) / 200 == pytest.approx(4 * 4 / 10, abs=0.3)
    larger = faults_on(log, cluster("fat_tree", servers=8).fabric, FaultMap("draw", population=10), 9 * DAY_S, 3)
    assert set(drawn[3]) <= set(larger)


def test_hosts_and_single_accelerators(tmp_path: Path) -> None:
    log, fabric = read_fault_log(_log(tmp_path / "f.csv", ROWS)), cluster("fat_tree").fabric
    gpu, fan, fan_of_5, gpu_of_9 = faults_on(log, fabric, FaultMap("wrap", host=2, single=("GPU",)), 9 * DAY_S, 0)
    assert len(gpu.parts) == len(gpu_of_9.parts) == 1
    assert gpu.parts[0] in ("s0.g0", "s0.g1")
    assert fan.parts == ("s0.g0", "s0.g1")
    assert fan_of_5.parts == ("s1.g2", "s1.g3")
    drained = faults_on(log, fabric, FaultMap("wrap", host=2, single=("GPU",)), 9 * DAY_S, 0, drains=True)
    assert [len(fault.parts) for fault in drained] == [8, 8, 8, 8]


def test_a_short_log_starts_again(tmp_path: Path) -> None:
    log, fabric = read_fault_log(_log(tmp_path / "f.csv", ROWS)), cluster("fat_tree").fabric
    assert [f.fail_s / DAY_S for f in faults_on(log, fabric, FaultMap(), 11.5 * DAY_S, 0)] == [1, 2, 10, 11]


def test_bad_hosts_and_classes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--fault-rules: host=3: does not divide"):
        FaultMap(host=3).require(cluster("fat_tree").fabric, "c")
    with pytest.raises(InputError, match="classes are: Fan, GPU"):
        read_fault_log(_log(tmp_path / "f.csv", ROWS)).require_classes(["Disk"])


@pytest.mark.skipif(not SHARED.is_file(), reason="the shared fault log is not beside this checkout")
def test_the_shared_log() -> None:
    log = read_fault_log(SHARED)
    assert log.length_s == pytest.approx(230.7257 * DAY_S)
    assert len({fault.server for fault in log.faults}) > 150
    out = sum(fault.end_s - fault.start_s for fault in log.faults) / log.length_s
    assert 9 < out < 12
