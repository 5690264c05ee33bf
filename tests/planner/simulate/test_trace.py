"""Traces are read as they are written, and what is wrong is named by file, line and column."""

import sys
from pathlib import Path

import numpy as np
import pytest

from planner.model.errors import InputError
from planner.simulate.trace import read_trace, to_csv
from tests.planner.simulate.grounds import SMALL_DEMAND, trace
from tests.planner.simulate.trace_cases import PHILLY


def _file(folder: Path, text: str) -> Path:
    path = folder / "jobs.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_trace_reads_what_was_written(tmp_path: Path) -> None:
    drawn = SMALL_DEMAND.draw(200, 1)
    read = read_trace(_file(tmp_path, to_csv(drawn)))
    assert np.allclose(read.arrival_s, drawn.arrival_s, atol=1e-3)
    assert (read.num_gpus == drawn.num_gpus).all()
    assert read.tenant.tolist() == drawn.tenant.tolist()


def test_a_duration_below_a_millisecond_is_written_as_one(tmp_path: Path) -> None:
    read = read_trace(_file(tmp_path, "arrival_s,duration_s,num_gpus\n0,0.0004,1\n1,2.0004,1\n"))
    assert read_trace(_file(tmp_path, to_csv(read))).duration_s.tolist() == [0.0004, 2.0]


def test_rows_are_sorted_and_optional_columns_filled(tmp_path: Path) -> None:
    text = "num_gpus,arrival_s,duration_s,workload,priority,note\n2,50,7,chat,3,x\n1,10,5,,0,y\n"
    read = read_trace(_file(tmp_path, text))
    assert read.arrival_s.tolist() == [10, 50]
    assert read.line.tolist() == [3, 2]
    assert read.workload.tolist() == ["", "chat"]
    assert read.priority.tolist() == [0, 3]
    assert read.tenant.tolist() == ["default", "default"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("arrival_s,duration_s,num_gpu\n0,1,2\n", ("num_gpus", "did you mean 'num_gpu'?")),
        ("arrival_s,duration_s,num_gpus\n0,1,2\n5,x,1\n", ("duration_s", "'x' at line 3 is no finite number")),
        ("arrival_s,duration_s,num_gpus\n0,1,2\n\n5,0,1\n", ("line 4, column 'duration_s'", "above 0")),
        ("arrival_s,duration_s,num_gpus\n0,1,2.5\n", ("line 2, column 'num_gpus'", "whole number", "2.5")),
        ("arrival_s,duration_s,num_gpus,priority\n0,1,2,0.5\n", ("line 2, column 'priority'", "whole number")),
        ("arrival_s,duration_s,num_gpus\n", ("no rows",)),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, told: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as error:
        read_trace(_file(tmp_path, text))
    assert "jobs.csv" in str(error.value)
    assert all(words in str(error.value) for words in told)


def test_parquet_without_its_reader_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "fastparquet", None)
    path = tmp_path / "jobs.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(InputError, match="pyarrow"):
        read_trace(path)


def test_parquet_reads_as_csv_does(tmp_path: Path) -> None:
    from planner.tables import write_parquet

    rows = [{"arrival_s": 0.5, "duration_s": 2.25, "num_gpus": 4, "tenant": "a"}]
    write_parquet(tmp_path / "jobs.parquet", rows)
    read = read_trace(tmp_path / "jobs.parquet")
    assert (read.arrival_s[0], read.duration_s[0], read.num_gpus[0], read.tenant[0]) == (0.5, 2.25, 4, "a")


def test_loads_are_absolute() -> None:
    jobs = trace([5, 15, 25], [10, 10, 10], [2, 4, 2])
    assert jobs.offered(8) == pytest.approx((20 + 40 + 0) / (8 * 20))
    assert jobs.offered(8, 0.25) == pytest.approx((10 + 40) / (8 * 15))
    scaled = jobs.at_load(0.25, 8)
    assert scaled.arrival_s == pytest.approx([0, 15, 30])
    assert scaled.offered(8) == pytest.approx(0.25)
    with pytest.raises(InputError, match="take more jobs or less load"):
        jobs.at_load(0.7, 8)
    with pytest.raises(InputError, match="at once"):
        trace([1, 1], [1, 1], [1, 1]).at_load(0.5, 8)


@pytest.mark.parametrize("warm_up", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("load", [0.3, 0.9, 1.5])
def test_what_is_asked_for_within_the_time_that_counts_is_the_load(load: float, warm_up: float) -> None:
    """Counted second by second; long jobs are cut off by the end of a short stretch."""
    jobs = SMALL_DEMAND.draw(300, 4).at_load(load, 32, warm_up)
    end_s = jobs.arrival_s[-1]
    times_s = warm_up * end_s + (1 - warm_up) * end_s * (np.arange(20_000) + 0.5) / 20_000
    order = np.argsort(jobs.arrival_s + jobs.duration_s)
    begun = np.concatenate([[0], np.cumsum(jobs.num_gpus)])
    ended = np.concatenate([[0], np.cumsum(jobs.num_gpus[order])])
    ends_s = (jobs.arrival_s + jobs.duration_s)[order]
    held = begun[np.searchsorted(jobs.arrival_s, times_s)] - ended[np.searchsorted(ends_s, times_s)]
    assert held.mean() / 32 == pytest.approx(load, rel=2e-3)


def test_windows_are_consecutive_and_follow_the_seed() -> None:
    jobs = SMALL_DEMAND.draw(500, 0)
    first, again, other = jobs.window(50, 1), jobs.window(50, 1), jobs.window(50, 2)
    assert first.line.tolist() == again.line.tolist() != other.line.tolist()
    assert np.diff(first.line).tolist() == [1] * 49
    assert jobs.window(900, 1) is jobs


@pytest.mark.slow
@pytest.mark.skipif(not PHILLY.is_file(), reason="shared/traces/philly.csv is not beside the repository")
def test_the_public_trace_is_read_whole() -> None:
    read = read_trace(PHILLY)
    assert len(read) == 82_247
    assert len(set(read.tenant.tolist())) == 15
    assert int(read.num_gpus.max()) == 128


def test_a_shape_is_read_and_written(tmp_path: Path) -> None:
    text = "num_gpus,arrival_s,duration_s,shape\n128,50,7,4x4x8\n1,10,5,\n"
    read = read_trace(_file(tmp_path, text))
    assert read.shape is not None
    assert read.shape.tolist() == ["", "4x4x8"]
    assert read.shapes == ["4x4x8"]
    again = read_trace(_file(tmp_path, to_csv(read)))
    assert again.shape is not None
    assert again.shape.tolist() == ["", "4x4x8"]
    assert read.window(1, 0).shapes in ([], ["4x4x8"])


@pytest.mark.parametrize(
    ("shape", "told"),
    [("4x4", "line 2, column 'shape': '4x4' is no box"), ("4x4x4", "4x4x4 has 64 accelerators, but num_gpus is 128")],
)
def test_a_wrong_shape_is_named(tmp_path: Path, shape: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_trace(_file(tmp_path, f"num_gpus,arrival_s,duration_s,shape\n128,50,7,{shape}\n"))
