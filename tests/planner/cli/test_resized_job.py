"""What became of a job that asked for more or fewer accelerators, in words."""

import pytest

from planner.cli.resized_job import print_resized


def test_what_is_new_and_given_back_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    move = {"d": "move", "job": "it", "devices": ["s0.t0", "s0.t2"], "gives_back": ["s0.t0", "s0.t1"]}
    start = {"d": "start", "job": "other", "devices": ["s0.t1"]}
    reserve = {"d": "reserve", "job": None, "servers": [], "at_s": None}
    print_resized("it", {"decisions": [reserve, move, start]}, as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "it goes on with 2 accelerators",
        "new: s0.t2",
        "given back: s0.t1",
        "other starts on s0.t1",
    ]


def test_who_waits_to_grow_is_told_why_and_who_waits_no_more_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    wait = {"d": "wait", "job": "it", "tag": "room", "because": "needs 2 accelerators more"}
    print_resized("it", {"decisions": [wait]}, as_json=False)
    print_resized("it", {"decisions": [{"d": "start", "job": "other", "devices": ["s0.t1"]}]}, as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "it waits (room): needs 2 accelerators more",
        "it goes on as it is",
        "other starts on s0.t1",
    ]
