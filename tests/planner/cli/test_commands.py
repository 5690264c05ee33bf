"""planner check, compare, score, schema, explain and marginal."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli import main
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.policies import POLICIES
from planner.studies.compare.rows import PolicyRow
from tests.planner.cli.conftest import Planner, fields, written


def test_compare_prints_a_table_for_each_instance(planner: Planner, instance: Path, tmp_path: Path) -> None:
    other = written(tmp_path, fields() | {"name": "other"}, "other.json")
    table, rows = tmp_path / "rows.csv", tmp_path / "rows.json"
    outcome = planner(
        "compare", instance, other, "--policies", "cpsat,first_fit", "--time-limit", 20, "--threads", 1,
        "--csv", table, "--out-json", rows, "--results", tmp_path / "runs",
    )  # fmt: skip
    assert outcome.code == 0
    assert outcome.out.count("policy ") == 2
    first = next(line.split() for line in outcome.out.splitlines() if line.startswith("first_fit"))
    assert first[:4] == ["first_fit", "4", "4", "0"]
    parsed = list(csv.DictReader(table.read_text("utf-8").splitlines()))
    assert [(row["instance"], row["policy"]) for row in parsed] == [
        ("tiny", "cpsat"), ("tiny", "first_fit"), ("other", "cpsat"), ("other", "first_fit")
    ]  # fmt: skip
    assert list(parsed[0]) == [name for name in PolicyRow.__dataclass_fields__ if name != "parameters"]
    assert [row["gap"] for row in json.loads(rows.read_text("utf-8"))] == [0, 0, 0, 0]
    assert {row["violations"] for row in parsed} == {"0"}


def test_compare_knows_no_gap_without_a_bound(planner: Planner, instance: Path, tmp_path: Path) -> None:
    outcome = planner(
        "compare", instance, "--policies", "first_fit,random_fit", "--json", "--results", tmp_path / "runs"
    )
    assert [row["gap"] for row in outcome.document] == [None, None]
    assert [row["bound"] for row in outcome.document] == [None, None]


def test_compare_measures_heuristics_by_the_proven_bound(planner: Planner, tmp_path: Path) -> None:
    content = fields()
    content["jobs"] = [content["jobs"][1] | {"accelerators": 4}, content["jobs"][0] | {"accelerators": 2}]
    path = written(tmp_path, content)
    outcome = planner(
        "compare", path, "--policies", "cpsat,first_fit", "--threads", 1, "--json", "--results", tmp_path / "runs"
    )
    best, first_fit = outcome.document
    assert (best["value"], first_fit["value"]) == (3, 1)
    assert first_fit["bound"] == best["bound"] == 3
    assert first_fit["gap"] == pytest.approx(2 / 3)


def test_score_says_where_time_and_energy_go(planner: Planner, instance: Path) -> None:
    outcome = planner("score", instance, "big", "--top", 3)
    assert outcome.code == 0
    assert "candidates listed, " in outcome.out
    assert "dominated, the best 3 shown" in outcome.out
    assert "small" not in outcome.out
    document = planner("score", instance, "--json", "--top", 2).document
    assert set(document) == {"big", "small"}
    candidate = document["big"]["candidates"][0]
    parts = [candidate[name] for name in ("compute_s", "memory_s", "reconfiguration_s", "bubble_s")]
    assert sum(parts) + sum(candidate["communication_s"].values()) == pytest.approx(candidate["step_s"])
    energies = candidate["energy_per_work_by_cause_j"]
    assert sum(energies.values()) == pytest.approx(candidate["energy_per_work_j"])
    assert len(document["big"]["candidates"]) == 2
    assert document["big"]["listed"] > document["big"]["dominated"]


def test_score_says_why_there_is_no_candidate(planner: Planner, tmp_path: Path) -> None:
    content = fields()
    content["jobs"][0]["workload"] |= {"model": "gpt3-175b"}
    content["jobs"][0]["accelerators"] = 1
    outcome = planner("score", written(tmp_path, content), "big")
    assert outcome.code == 0
    assert "each accelerator would hold 3163.5 GB, 3077.6 GB more than it has" in outcome.out


@pytest.mark.parametrize(("option", "model"), [((), Instance), (("--plan",), Plan)])
def test_schema_has_the_keys_of_files(planner: Planner, option: tuple[str, ...], model: Any) -> None:
    document = planner("schema", *option).document
    assert document["$schema"].startswith("https://json-schema.org/")
    assert document["title"] == model.__name__
    assert "schema_version" in document["properties"]
    name, key = ("Circuit", "from") if option else ("Lightpath", "alpha")
    assert key in document["$defs"][name]["properties"]


@pytest.mark.slow
def test_explain_and_marginal_print_json(planner: Planner, instance: Path, plan: Path) -> None:
    explained = planner("explain", instance, "big", "--plan", plan, "--time-limit", 2, "--workers", 1, "--json")
    assert explained.code == 0
    assert explained.document["job"] == "big"
    assert explained.document["tag"] == "admitted"
    gains = planner("marginal", instance, "--time-limit", 2, "--workers", 1, "--json")
    assert gains.code == 0
    assert all({"change", "gain", "status"} <= each.keys() for each in gains.document)


def test_help_lists_every_policy(planner: Planner) -> None:
    for command in ("solve", "compare"):
        said = planner(command, "--help").out
        assert [name for name in POLICIES if name not in said] == []


@pytest.mark.slow
def test_outputs_have_the_same_names_everywhere(planner: Planner, instance: Path) -> None:
    plans = [instance.with_name(name) for name in ("a.json", "b.json", "c.json")]
    pages = [instance.with_name(name) for name in ("a.html", "b.html")]
    for option, path in zip(("--plan-out", "--output", "-o"), plans, strict=True):
        assert planner("solve", instance, "--policy", "first_fit", option, path).code == 0
    assert Plan.load(plans[0]) == Plan.load(plans[1]) == Plan.load(plans[2])
    for option, path in zip(("--report", "--html"), pages, strict=True):
        assert planner("solve", instance, "--policy", "first_fit", option, path).code == 0
        assert path.read_text("utf-8").startswith("<!doctype html")
    again = instance.with_name("again.json")
    assert planner("repair", instance, plans[0], "--failed", "s1.t1", "--plan-out", again).code == 0
    assert Plan.load(again).admitted == Plan.load(plans[0]).admitted


def test_shells_complete_commands(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in {"_PLANNER_COMPLETE": "complete_bash", "COMP_WORDS": "planner re", "COMP_CWORD": "1"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        main([])
    assert capsys.readouterr().out.split() == ["repair", "reconfigure", "replay", "reproduce", "resync"]
