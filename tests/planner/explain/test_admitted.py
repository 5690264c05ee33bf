"""Where an admitted job runs, and what other sizes would change."""

import re

import pytest

from tests.planner.small_racks import ask, outcome, rack, serving, texts, training


@pytest.mark.slow
def test_admitted_job_says_where_it_runs_and_what_other_sizes_change() -> None:
    data = rack(serving("x", [2, 4, 8]), training("y", 4), fibers=1)
    explanation = ask(data, "x")
    assert explanation.tag == "admitted"
    assert explanation.headline in ("x runs with 4 accelerators on s0", "x runs with 4 accelerators on s1")
    smaller, larger = texts(explanation)
    assert re.match(r"with 2 accelerators it fits beside the others \(1\.\d+x slower, 0\.\d+ less value", smaller)
    best = outcome(data).objective
    alone = outcome(rack(serving("x", [2, 4, 8]), fibers=1))
    assert best is not None
    assert alone.plan is not None
    assert alone.objective is not None
    # Alone, x takes 8 accelerators; y then leaves.
    assert len(alone.plan["x"].devices) == 8
    assert larger.endswith(f"making room costs {best - alone.objective:.3g} of value")
