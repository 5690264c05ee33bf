"""Solves of an edited instance: what excludes what, the same each time."""

import pytest

from tests.planner.small_racks import ask, rack, serving, texts, training


def test_required_jobs_that_exclude_each_other() -> None:
    data = rack(serving("a", 4, required=True), serving("x", 4, required=True), servers=1)
    explanation = ask(data, "x")
    assert explanation.headline == "x: the required jobs and residents cannot all run, so there is no plan"


@pytest.mark.slow
def test_same_question_same_answer() -> None:
    assert texts(ask(rack(training("x", 8)), "x")) == texts(ask(rack(training("x", 8)), "x"))
