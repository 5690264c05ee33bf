"""Shared by the tests of `bad_input`, `inputs` and `outputs`."""

from typing import Any


def assert_refused(outcome: Any, start: str, problem: str) -> None:
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith(start)
    assert problem in outcome.err
    assert outcome.err.count("\n") == 1
    assert "Traceback" not in outcome.err
