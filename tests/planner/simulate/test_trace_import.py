"""Traces from the tables of other programs: times of day, shares of accelerators, rows that are no jobs."""

from pathlib import Path

import pytest

from planner.model.errors import InputError
from planner.simulate.trace import read_trace, to_csv
from planner.simulate.trace_import import import_trace, mapping_of

LOG = """job_id,user,gpu_num,submit_time,start_time,end_time
1,u1,8,2020-04-01 00:00:10,2020-04-01 00:10:00,2020-04-01 02:10:00
2,u2,0,2020-04-01 00:01:00,2020-04-01 00:01:10,2020-04-01 00:02:00
3,u1,0.5,2020-04-01 00:03:00,2020-04-01 00:03:10,2020-04-01 01:00:00
4,,2,2020-04-01 00:05:00,2020-04-01 00:06:00,
5,,4,2020-03-31 23:59:00,2020-04-01 00:06:00,2020-04-01 05:06:00
"""
MAPPING = mapping_of(["arrival_s = submit_time", "duration_s=end_time - start_time", "num_gpus=gpu_num", "tenant=user"])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(LOG, "utf-8")
    return path


def test_times_of_day_become_seconds_in_the_order_of_arrival(log: Path, tmp_path: Path) -> None:
    trace, _ = import_trace(log, MAPPING)
    assert trace.arrival_s.tolist() == [0, 70, 240]
    assert trace.duration_s.tolist() == [5 * 3600, 2 * 3600, 3410]
    assert trace.num_gpus.tolist() == [4, 8, 1]
    assert trace.tenant.tolist() == ["default", "u1", "u1"]
    assert trace.line.tolist() == [6, 2, 4]
    written = tmp_path / "trace.csv"
    written.write_text(to_csv(trace), "utf-8")
    assert read_trace(written).duration_s.tolist() == trace.duration_s.tolist()


def test_what_is_left_out_or_rounded_is_told(log: Path) -> None:
    assert import_trace(log, MAPPING)[1] == [
        "1 of 5 rows have no duration above 0: left out",
        "1 of 5 rows ask for no accelerator: left out",
        "jobs that ask for a share of an accelerator, rounded up: 1",
    ]


def test_numbers_need_no_mapping_and_may_be_scaled(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_s,minutes,plan_gpu\n0,2,100\n5,1,250\n", "utf-8")
    trace, notes = import_trace(path, mapping_of(["duration_s=minutes * 60", "num_gpus=plan_gpu / 100"]))
    assert (trace.duration_s.tolist(), trace.num_gpus.tolist()) == ([120, 60], [1, 3])
    assert notes == ["jobs that ask for a share of an accelerator, rounded up: 1"]


@pytest.mark.parametrize("pair", ["arrivals=submit", "arrival_s", "arrival_s="])
def test_what_is_no_mapping_is_refused(pair: str) -> None:
    with pytest.raises(InputError, match="names no column of a trace; they are arrival_s"):
        mapping_of([pair])


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        (["arrival_s=submit"], "'submit' is not defined; write columns and arithmetic.*of job_id, user"),
        (["arrival_s=submit_time", "duration_s=end_time -", "num_gpus=gpu_num"], "cannot be computed"),
        (["arrival_s=submit_time", "duration_s=end_time", "num_gpus=user"], "no row is a job"),
        (["arrival_s=submit_time", "duration_s=end_time", "num_gpus=gpu_num", "tenant=team"], "team: missing"),
        (["num_gpus=1", "num_gpus=2"], "num_gpus is given twice"),
    ],
)
def test_a_wrong_column_is_one_clear_error(log: Path, pairs: list[str], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        import_trace(log, mapping_of(pairs))
