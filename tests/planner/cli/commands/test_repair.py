"""planner repair, reconfigure and solve --survive: what is printed, written and refused."""

import json
from pathlib import Path

import pytest

import planner.checks as checks
from planner.model.violation import Violation
from tests.planner.cli.conftest import Planner, fields, written


@pytest.fixture
def plan(planner: Planner, instance: Path, tmp_path: Path) -> Path:
    """A plan of the instance with one tile left free."""
    data = fields()
    data["jobs"][0]["accelerators"] = 2
    data["jobs"][1]["accelerators"] = 1
    instance.write_text(json.dumps(data), encoding="utf-8")
    path = tmp_path / "plan.json"
    assert planner("solve", instance, "--policy", "first_fit", "--plan-out", path).code == 0
    return path


def test_repair_tells_what_moves_and_writes_a_good_plan(
    planner: Planner, instance: Path, plan: Path, tmp_path: Path
) -> None:
    failed = json.loads(plan.read_text("utf-8"))["assignments"][0]["devices"][0]
    outcome = planner("repair", instance, plan, "--failed", failed, "-o", tmp_path / "new.json")
    assert outcome.code == 0
    assert f"accelerator {failed} has failed" in outcome.out
    assert "every job runs as before; fewest moved ranks and changed circuits: proven" in outcome.out
    difference = planner("diff", instance, plan, tmp_path / "new.json").out
    circuits = difference.rpartition("circuits: ")[2].strip()  # 2 torn down, 2 set up
    assert f"1 rank moved · {circuits.replace(' torn', ' circuits torn', 1)} ·" in outcome.out
    assert "checked: 0 violations" in outcome.out
    data = json.loads(instance.read_text("utf-8"))
    data["cluster"]["health"] = {"failed_tiles": [failed]}
    assert planner("check", written(tmp_path, data, "damaged.json"), tmp_path / "new.json").code == 0


def test_a_free_port_that_fails_changes_nothing(planner: Planner, instance: Path, plan: Path, tmp_path: Path) -> None:
    """The single-device job of the plan keeps its working port, whatever fails one after the other."""
    data, path = json.loads(instance.read_text("utf-8")), plan
    taken = {name for a in json.loads(plan.read_text("utf-8"))["assignments"] for name in a["devices"]}
    free = [name for name in ("s0.t0", "s0.t1", "s1.t0", "s1.t1") if name not in taken]
    assert free
    for name in free:
        outcome = planner("repair", instance, path, "--failed", f"{name}:port", "-o", tmp_path / "new.json")
        assert outcome.code == 0
        assert "no job stands on it: the plan stays as it is" in outcome.out
        path = tmp_path / "new.json"
        health = data["cluster"].setdefault("health", {"failed_ports": []})
        health["failed_ports"].append(name)
        instance = written(tmp_path, data, "damaged.json")
        assert planner("check", instance, path).code == 0


def test_repair_as_json(planner: Planner, instance: Path, plan: Path) -> None:
    document = planner("repair", instance, plan, "--failed", "s0.t0", "--failed", "s0>s1#1:w2", "--json").document
    assert document["outcome"] == "repaired"
    assert [f["kind"] for f in document["failures"]] == ["tile", "fiber"]
    assert len(document["moves"]) == document["least_moves"] == 1
    assert document["is_fewest"] is True
    assert document["violations"] == []
    assert document["stages"] == 1


def test_a_repair_that_the_check_refuses_is_withheld(
    planner: Planner, instance: Path, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Violation("placement", "big", "big has no devices", 2.0)
    monkeypatch.setattr(
        checks, "check", lambda given, *_, **asked: [broken] if given.cluster.health.failed_tiles else []
    )
    monkeypatch.chdir(tmp_path)
    outcome = planner("repair", instance, plan, "--failed", "s0.t0", "-o", tmp_path / "new.json")
    assert outcome.code == 5
    assert "proven" not in outcome.out
    assert not (tmp_path / "new.json").exists()
    report = json.loads((tmp_path / "refused-tiny-1.json").read_text("utf-8"))
    assert report["instance"]["cluster"]["health"]["failed_tiles"] == ["s0.t0"]
    assert report["claimed"]["outcome"] == "repaired"


def test_no_plan_has_its_exit_code(planner: Planner, tmp_path: Path) -> None:
    data = fields()
    data["jobs"] = [data["jobs"][0] | {"accelerators": 4, "required": True}]
    instance, plan = written(tmp_path, data), tmp_path / "plan.json"
    assert planner("solve", instance, "--policy", "first_fit", "--plan-out", plan).code == 0
    outcome = planner("repair", instance, plan, "--failed", "s0.t0")
    assert outcome.code == 4
    assert "nothing was found" in outcome.out


@pytest.mark.slow
@pytest.mark.parametrize("part", ["s7.t0", "s0>s1#9", "s0.t0:w4", "lamp"])
def test_unknown_parts_name_field_and_remedy(planner: Planner, instance: Path, plan: Path, part: str) -> None:
    outcome = planner("repair", instance, plan, "--failed", part)
    assert outcome.code == 2
    assert "failed" in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("command", ["repair", "reconfigure"])
def test_mutated_plans_are_refused(planner: Planner, instance: Path, plan: Path, tmp_path: Path, command: str) -> None:
    good = plan.read_text("utf-8")
    mutants = {
        "devices": lambda a: a[1].update(devices=a[0]["devices"][:1]),
        "wavelengths": lambda a: a[0]["circuits"][0]["circuits"][0].update(wavelengths=[99]),
        "missing": lambda a: a[0]["circuits"][0]["circuits"].pop(),
        "fibers": lambda a: a[0]["circuits"][0]["circuits"][0].update(fibers=["s0>s1#0"]),
        "job": lambda a: a[0].update(job="nobody"),
        "device": lambda a: a[1].update(devices=["s9.t9"]),
    }
    for name, mutate in mutants.items():
        data = json.loads(good)
        mutate(data["assignments"])
        bad = written(tmp_path, data, f"{name}.json")
        more = ["--failed", "s1.t1"] if command == "repair" else [plan]
        outcome = planner(command, instance, bad, *more)
        assert outcome.code == 2, name
        assert str(bad) in outcome.err


@pytest.mark.slow
def test_reconfigure_shows_stages(planner: Planner, instance: Path, plan: Path, tmp_path: Path) -> None:
    failed = json.loads(plan.read_text("utf-8"))["assignments"][0]["devices"][0]
    new = tmp_path / "new.json"
    assert planner("repair", instance, plan, "--failed", failed, "-o", new).code == 0
    outcome = planner("reconfigure", instance, plan, new)
    assert outcome.code == 0
    assert "switch" in outcome.out
    assert "disturbed: big" in outcome.out
    assert "1 stage · 4.40 us" in outcome.out
    document = planner("reconfigure", instance, plan, new, "--json").document
    assert document["is_proven"] is True
    assert document["paused"] == []
    assert document["time_s"] == pytest.approx(4.4e-6)
    start = planner("reconfigure", instance, plan, "--json").document
    assert {step["action"] for stage in start["stages"] for step in stage} == {"start"}


@pytest.mark.slow
def test_solve_survives_one_failure(planner: Planner, instance: Path) -> None:
    arguments = ("solve", instance, "--survive", 1, "--threads", 1, "--time-limit", 20)
    outcome = planner(*arguments)
    assert outcome.code == 0
    assert "survives the loss of any one tile, port or fiber" in outcome.out
    document = planner(*arguments, "--json").document
    assert document["survival"]["weaknesses"] == []
    assert document["survival"]["cost"] >= 0
    assert document["violations"] == []


def test_the_plan_that_runs_is_not_overwritten(planner: Planner, instance: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    assert planner("solve", instance, "--policy", "first_fit", "--plan-out", plan).code == 0
    before = plan.read_bytes()
    outcome = planner("repair", instance, plan, "--failed", "s0.t0", "-o", plan)
    assert (outcome.code, plan.read_bytes()) == (2, before)
    assert "is an input of this command, which would be lost; name another file" in outcome.err


def test_a_part_that_is_not_there_is_a_fault_of_the_option(planner: Planner, instance: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    assert planner("solve", instance, "--policy", "first_fit", "--plan-out", plan).code == 0
    outcome = planner("repair", instance, plan, "--failed", "s9.t1")
    assert outcome.code == 2
    assert outcome.err.startswith("error: --failed: s9.t1: no server 's9'")
