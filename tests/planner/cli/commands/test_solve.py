"""planner solve: what is printed, written and returned."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planner import pipeline
from planner.explain import best_fit
from planner.model.plan import Plan
from planner.model.result import Result, Status
from planner.model.violation import Violation
from tests.paths import ROOT
from tests.planner.cli.commands.solve_cases import overfull, solve
from tests.planner.cli.conftest import BERT, Planner, fields, written
from tests.planner.simulate.grounds import FABRICS

KEYS = [
    "status", "objective", "bound", "gap", "wall_time_s", "levels", "plan", "left_out", "seed", "policy",
    "statistics", "starts", "violations", "versions",
]  # fmt: skip
MIXED = ROOT / "instances" / "sipam" / "mixed.yaml"


def test_text_tells_the_whole_story(planner: Planner, instance: Path) -> None:
    outcome = solve(planner, instance)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0].startswith("tiny   lightpath 2 x 2   4 of 4 accelerators healthy   2 jobs   ")
    assert "pruned as dominated)" in lines[0]
    assert any(" s  value " in line and line.endswith("proven") for line in lines)
    header = next(line for line in lines if line.startswith("job "))
    assert header.split() == [
        "job", "accelerators", "where", "mapping", "circuits", "step", "energy/token", "bottleneck"
    ]  # fmt: skip
    assert any(line.startswith("big ") and "dp2" in line and "s" in line for line in lines)
    assert lines[-3].startswith("value 4 (optimal) · moves 0 (optimal) · energy ")
    assert lines[-2].startswith("value above heuristics: priced 4 (as much)")
    assert "checked: 0 violations" in lines[-1]
    assert "4 of 4 accelerators" in lines[-1]


def test_json_is_the_whole_output(planner: Planner, instance: Path) -> None:
    outcome = solve(planner, instance, "--json", "--seed", 3)
    document = outcome.document
    assert outcome.err == ""
    assert list(document) == KEYS
    assert document["status"] == "OPTIMAL"
    assert document["gap"] == 0
    assert document["seed"] == 3
    assert document["violations"] == []
    assert document["left_out"] == []
    assert list(document["levels"][0]) == ["objective", "value", "bound", "gap", "status", "tolerance"]
    assert document["levels"][0]["value"] == document["objective"] == document["bound"]
    assert set(document["versions"]) == {"photonplan", "ortools", "numpy", "python"}
    assert document["statistics"]["candidates"] > 0
    assert Plan.model_validate(document["plan"]).admitted == ("big", "small")


def test_left_out_jobs_are_told_with_the_command_that_says_more(planner: Planner, tmp_path: Path) -> None:
    content = fields()
    content["jobs"].append(content["jobs"][0] | {"name": "huge [bold]", "accelerators": 4, "weight": 0.1})
    path = written(tmp_path, content, "two words.json")
    outcome = solve(planner, path)
    line = next(line for line in outcome.out.splitlines() if line.startswith("huge [bold]"))
    assert "-  not placed: " in line
    assert f"planner explain '{path}'" in line


def test_residents_are_marked(planner: Planner, tmp_path: Path) -> None:
    content = fields()
    running = {"name": "old", "accelerators": 1, "devices": ["s0.t0"], "configuration": {"micro_batch": 4}}
    content["residents"] = [content["jobs"][1] | running]
    content["objectives"] = ["moves", "value"]
    outcome = solve(planner, written(tmp_path, content))
    assert "2 jobs, 1 resident " in outcome.out
    row = next(line for line in outcome.out.splitlines() if line.startswith("old "))
    assert row.split()[1] == "stays"


def test_control_characters_of_names_do_not_reach_the_terminal(planner: Planner, tmp_path: Path) -> None:
    content = fields()
    content["name"] = "\x1b]0;title\x07"
    content["jobs"][0]["name"] = "\x1b[31mred"
    outcome = solve(planner, written(tmp_path, content))
    assert outcome.code == 0
    assert "\x1b" not in outcome.out
    assert "?[31mred" in outcome.out


@pytest.mark.slow
def test_files_are_written(planner: Planner, instance: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    files = {"--plan-out": "plan.json", "--report": "page.html", "--plot": "floor.svg"}
    arguments = [part for option, name in files.items() for part in (option, tmp_path / name)]
    assert solve(planner, instance, *arguments).code == 0
    assert Plan.load(tmp_path / "plan.json").admitted == ("big", "small")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<html" in page
    assert "photonplan" in page
    assert "<svg" in (tmp_path / "floor.svg").read_text("utf-8")


@pytest.mark.parametrize(
    ("option", "name", "problem"),
    [
        ("--plan-out", "none/plan.json", "does not exist"),
        ("--report", ".", "is a directory"),
        ("--plot", "floor.jpg", ".png or .svg"),
        ("--plot", "none/floor.png", "does not exist"),
    ],
)
def test_what_cannot_be_written_is_refused_before_solving(
    planner: Planner, instance: Path, tmp_path: Path, option: str, name: str, problem: str
) -> None:
    outcome = solve(planner, instance, option, tmp_path / name)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith(f"error: {tmp_path / name}: {option}: ")
    assert problem in outcome.err


def test_two_outputs_need_two_files(planner: Planner, instance: Path, tmp_path: Path) -> None:
    outcome = solve(planner, instance, "--plan-out", tmp_path / "x", "--report", tmp_path / "x")
    assert outcome.code == 2
    assert "two options" in outcome.err


def test_a_plan_that_cannot_be_written_is_printed(planner: Planner, instance: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this machine has no /dev/full")
    outcome = solve(planner, instance, "--plan-out", "/dev/full")
    assert outcome.code == 2
    assert "cannot be written" in outcome.err
    assert "checked: 0 violations" in outcome.out
    assert '"assignments"' in outcome.out


def test_exit_code_4_if_no_plan_was_found(planner: Planner, tmp_path: Path) -> None:
    outcome = solve(planner, overfull(tmp_path), "--policy", "first_fit")
    assert outcome.code == 4
    assert "this proves nothing" in outcome.out


@pytest.mark.slow
def test_json_of_a_refused_plan_claims_nothing(
    planner: Planner, instance: Path, tmp_path: Path, refusing: Violation
) -> None:
    for number in (1, 2):
        outcome = solve(planner, instance, "--json")
        assert outcome.code == 5
        assert outcome.document == {
            "status": "REFUSED", "plan": None, "violations": [vars(refusing)],
            "refused": f"refused-tiny-{number}.json",
        }  # fmt: skip
        assert (tmp_path / outcome.document["refused"]).exists()


def test_the_library_hands_out_no_plan_that_the_check_refuses(instance: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import planner as library
    from planner import checked_solve

    monkeypatch.setattr(
        checked_solve, "check", lambda *given, **asked: [Violation("placement", "big", "no devices", 2.0)]
    )
    with pytest.raises(library.RefusedPlanError, match="no devices") as refused:
        library.solve(library.Instance.load(instance), policy="first_fit")
    assert isinstance(refused.value.plan, Plan)


@pytest.mark.slow
def test_a_hint_is_taken(planner: Planner, instance: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(solve(planner, instance, "--json").out, encoding="utf-8")
    outcome = solve(planner, instance, "--hint", plan)
    assert outcome.code == 0
    assert "hint" in outcome.out
    assert outcome.err == ""


def test_a_broken_hint_is_refused(planner: Planner, instance: Path, tmp_path: Path) -> None:
    plan = Plan.model_validate(solve(planner, instance, "--json").document["plan"])
    first = plan.assignments[0].model_copy(update={"devices": ("s9.t0", "s9.t1")})
    broken = tmp_path / "broken.json"
    plan.model_copy(update={"assignments": (first,)}).dump(broken)
    outcome = solve(planner, instance, "--hint", broken)
    assert outcome.code == 2
    assert outcome.err.startswith(f"error: {broken}: ")
    assert "must pass `planner check`" in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["first_fit", "best_fit", "server_aligned", "random_fit"])
def test_heuristics_claim_no_bound(planner: Planner, instance: Path, policy: str) -> None:
    document = solve(planner, instance, "--policy", policy, "--json").document
    assert document["status"] == Status.FEASIBLE.value
    assert document["policy"] == policy
    assert document["gap"] is None


@pytest.mark.slow
def test_interrupt_returns_the_best_plan_so_far() -> None:
    arguments = ["solve", str(MIXED), "--threads", "1", "--time-limit", "3600"]
    program = "import sys; from planner.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith("sipam-mixed")
    assert " value " in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=900)
    assert process.returncode == 0
    assert err.startswith("stopping with the best plan so far")
    assert "checked: 0 violations" in out


def test_an_interrupt_beside_the_finished_plan_keeps_it(
    planner: Planner, instance: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: Any, **options: Any) -> Result:
        signal.raise_signal(signal.SIGINT)
        return pipeline.solve(*given, **options)

    monkeypatch.setattr(best_fit, "solve", interrupted)
    outcome = planner("solve", instance, "-o", tmp_path / "plan.json")
    assert outcome.code == 0
    assert "checked: 0 violations" in outcome.out
    assert "best fit" not in outcome.out
    assert planner("check", instance, tmp_path / "plan.json").code == 0


@pytest.mark.slow
@pytest.mark.parametrize(("fabric", "part"), [("lightpath", "fiber"), ("sipam", "uplink"), ("ocs_rail", None)])
def test_the_table_names_what_circuits_go_over(fabric: str, part: str | None, tmp_path: Path, planner: Planner) -> None:
    cluster = {"device": "h100-sxm", "fabric": FABRICS[fabric]}
    job = {"name": "wide", "workload": BERT | {"global_batch": 96}, "accelerators": 16}
    path = written(tmp_path, {"schema_version": 2, "name": fabric, "cluster": cluster, "jobs": [job]})
    out = planner("solve", path, "--policy", "best_fit").out
    line = next(line for line in out.splitlines() if line.startswith("wide"))
    assert set(re.findall(r"\d (fiber|uplink|switch)(?:e?s)?\b", line)) == ({part} if part else set())


def test_jobs_may_stand_in_a_table_beside_the_instance(tmp_path: Path, planner: Planner) -> None:
    cluster = {"device": "h100-sxm", "fabric": FABRICS["fat_tree"]}
    path = written(tmp_path, {"schema_version": 2, "name": "beside", "cluster": cluster, "jobs": "jobs.csv"})
    table = tmp_path / "jobs.csv"
    table.write_text("name,model,kind,accelerators,global_batch,sequence\na,bert-large,training,8,64,512\n", "utf-8")
    assert [job["job"] for job in planner("solve", path, "--json").document["plan"]["assignments"]] == ["a"]
    plan = tmp_path / "plan.json"
    assert planner("solve", path, "--policy", "first_fit", "-o", plan).code == 0
    assert planner("check", path, plan).code == 0
    grid = planner("compare", path, "--policies", "first_fit", "--grid", "jobs[a].weight=1,2", "--json").document
    assert len(grid) == 2
    table.write_text(table.read_text("utf-8").replace("512", "-1"), encoding="utf-8")
    outcome = planner("solve", path)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"error: {table}: line 2, column 'sequence': must be at least 1 (got -1)\n"


def test_work_instead_of_time_gives_one_plan(planner: Planner, tmp_path: Path) -> None:
    golden = str(ROOT / "instances" / "lumorph" / "golden.yaml")
    plans = [tmp_path / "one.json", tmp_path / "two.json"]
    for workers, plan in zip("12", plans, strict=True):
        options = ["--deterministic", "2", "--threads", workers, "--time-limit", "0.01"]
        assert planner("solve", golden, *options, "--plan-out", str(plan)).code == 0
    assert plans[0].read_text("utf-8") == plans[1].read_text("utf-8")
