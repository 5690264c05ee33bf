"""Where an admitted job runs, and what other sizes would change."""

import re

import pytest

from planner.explain import explain
from planner.pipeline import solve
from tests.planner.fabrics.divided_ports.clusters import LONG, job, tiered
from tests.planner.optimum import OPTIONS
from tests.planner.small_racks import ask, outcome, rack, serving, texts, training


def test_what_is_taken_of_what_servers_share_is_told() -> None:
    asked = tiered(*(job(name, 1, workload=LONG) for name in "abcd"))
    plan = solve(asked, options=OPTIONS).plan
    assert plan is not None
    at = plan["a"].devices[0][:2]
    said = texts(explain(asked, "a", plan=plan, options=OPTIONS))
    assert said[-1] == f"all 4 modules of {at} and 3 second-tier units of {at} are taken"
    units = plan["a"].configuration.tier_units
    assert said[0].startswith(
        f"it keeps weights 12.5 % in cxl-ddr5 x {units}: 8.6 of {units}00 GB for each accelerator"
    )
    assert said[0].endswith(f"the bandwidth of cxl-ddr5 x {units} binds")


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


def test_a_size_that_no_plan_has_is_told_by_what_it_lacks_alone() -> None:
    """All ports have failed, and nothing else is asked for; then a required job takes what it would need."""
    ports = [f"s{server}.t{tile}" for server in range(2) for tile in range(4)]
    dark = rack(serving("x", [1, 2]), health={"failed_ports": ports})
    lacks = "needs 2, 0 are free, and 8 more without a working port"
    assert texts(ask(dark, "x")) == [
        f"with 2 accelerators it cannot run even with the whole cluster to itself: {lacks}"
    ]
    full = rack(serving("x", [1, 2]), serving("y", 7, required=True))
    assert texts(ask(full, "x")) == ["with 2 accelerators it does not fit beside the required jobs and residents"]
