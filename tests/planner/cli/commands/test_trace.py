"""planner trace: drawn, or read from another program's table."""

from pathlib import Path

import pytest

from planner.cli import main


def test_a_table_of_another_program_becomes_a_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, trace = tmp_path / "log.csv", tmp_path / "trace.csv"
    table.write_text("submit,seconds,gpus\n3,60,0.25\n1,30,4\n", "utf-8")
    pairs = ["arrival_s=submit", "duration_s=seconds", "num_gpus=gpus"]
    options = [word for pair in pairs for word in ("--map", pair)]
    assert main(["trace", "--from", str(table), *options, "-o", str(trace)]) == 0
    assert trace.read_text("utf-8").splitlines() == [
        "arrival_s,duration_s,num_gpus,tenant", "0.000,30.000,4,default", "2.000,60.000,1,default"
    ]  # fmt: skip
    assert capsys.readouterr().err.splitlines() == ["jobs that ask for a share of an accelerator, rounded up: 1"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [(["--map", "num_gpus=gpus"], "maps columns of --from"), (["--from", "x.csv", "--jobs", "3"], "has its own jobs")],
)
def test_options_that_contradict_each_other(
    options: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", *options, "-o", str(tmp_path / "trace.csv")]) == 2
    assert problem in capsys.readouterr().err
