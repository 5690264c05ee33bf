"""What became of a job that asked for more or fewer accelerators, in words."""

import pytest

from planner.cli.resized_job import print_resized


def test_what_is_new_and_given_back_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    move = {"d": "move", "job": "it", "devices": ["s0.t0", "s0.t2"], "gives_back": ["s0.t0", "s0.t1"]}
    start = {"d": "start", "job": "other", "devices": ["s0.t1"]}
    print_resized({"decisions": [move, start, {"d": "wait", "job": "third"}]}, as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "it goes on with 2 accelerators",
        "new: s0.t2",
        "given back: s0.t1",
        "other starts on s0.t1",
    ]
