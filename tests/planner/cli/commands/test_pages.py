"""planner pages: what is printed, written and returned."""

from pathlib import Path

import pytest

from planner.model.page_plan import PagePlan
from tests.planner.cli.conftest import Planner, written
from tests.planner.page_cases import fields


@pytest.mark.slow
def test_text_tells_where_why_and_what_more_would_save(planner: Planner, case: Path) -> None:
    outcome = planner("pages", case, "a", "--time-limit", 2, "--threads", 1)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "tiny   1 job   8 tensors   44 pages of 4.19 MB   3 memories"
    assert any(line.startswith("a ") and "compute" in line and "node 0" in line for line in lines)
    assert any(line.startswith("conv1 output") for line in lines)
    assert any(line.startswith("10 % more local memory for a ") for line in lines)
    slower = {line.split()[0] for line in lines if line.endswith("%") and "ms" in line}
    assert slower >= {"bw_aware", "greedy_keep", "local", "proportional"}
    assert lines[-1].startswith("step time 5.")
    assert "checked: 0 violations" in lines[-1]


def test_json_is_the_whole_output(planner: Planner, case: Path) -> None:
    outcome = planner("pages", case, "--json", "--time-limit", 1, "--no-gains", "--policy", "bw_aware")
    document = outcome.document
    assert outcome.err == ""
    assert document["policy"] == "bw_aware"
    assert document["objective_s"] >= document["bound_s"]
    assert document["gains"] == document["violations"] == []
    assert document["policies_s"]["bw_aware"] == document["objective_s"]
    assert document["policies_s"].keys() == {"local", "bw_aware", "proportional", "greedy_keep"}
    assert PagePlan.model_validate(document["plan"])["a"].step_s == document["objective_s"]
    assert document["why"]["a"]["busy_s"].keys() == {"compute", "node 0", "node 1", "collectives"}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_plan_and_figure_are_written(planner: Planner, case: Path, tmp_path: Path, suffix: str) -> None:
    plan, figure = tmp_path / "plan.json", tmp_path / f"figure.{suffix}"
    arguments = ("--plan-out", plan, "--plot", figure, "--no-gains", "--time-limit", 1)
    assert planner("pages", case, *arguments).code == 0
    assert PagePlan.load(plan).instance == "tiny"
    assert figure.stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("b",), "there is no job 'b'; jobs are: a"),
        (("--policy", "halves"), "policies for pages are"),
        (("--plot", "figure.pdf"), "ends in no known format"),
        (("--plan-out", "no/plan.json"), "does not exist"),
    ],
)
def test_bad_input_is_one_line(planner: Planner, case: Path, arguments: tuple[str, ...], message: str) -> None:
    outcome = planner("pages", case, *arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_what_fits_nowhere_is_infeasible(planner: Planner, tmp_path: Path) -> None:
    data = fields(may_remake=False)
    data["memories"] = {name: {"failed": True} for name in data["memories"]}
    outcome = planner("pages", written(tmp_path, data), "--time-limit", 5)
    assert outcome.code == 3
    assert "fit nowhere" in outcome.out
    assert "a lacks 44 pages (0.185 GB)" in outcome.out


def test_there_is_a_schema(planner: Planner) -> None:
    properties = planner("schema", "--pages").document["properties"]
    assert {"study", "page", "memories", "jobs"} <= properties.keys()
    assert "jobs" in planner("schema", "--pages", "--plan").document["properties"]
