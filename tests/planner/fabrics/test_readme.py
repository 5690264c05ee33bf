"""The dragonfly of the page, installed as pip would, in every command: nothing of the planner knows it by name."""

# ruff: noqa: F811

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from costmodel.fabrics import outside_fabrics
from costmodel.fabrics.union import _with_outside
from planner.controller import Controller, Request, Settings
from planner.model import validation_messages
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.sweep.versions import code
from tests.fabrics import FABRICS
from tests.paths import ROOT
from tests.planner.cli.conftest import BERT, Planner, planner, written  # noqa: F401
from tests.planner.simulate.grounds import SMALL_DEMAND

PAGE = (ROOT / "planner/fabrics/README.md").read_text("utf-8")
DRAGONFLY = FABRICS["fat_tree"] | {"kind": "dragonfly"}
PARTS = {"accelerator": 10, "electrical_port": 1}
PRICES = {"currency": "EUR", "energy_per_kwh": 0.1, "lifetime": "365 d", "parts": PARTS}
LIMITS = ("--threads", 1, "--time-limit", 10)


def install(folder: Path, entry: str) -> None:
    """What an installer leaves of the distribution on the page."""
    for name, text in re.findall(r"`(dragonfly/\w+\.py)`:\n\n```python\n(.*?)```", PAGE, re.DOTALL):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    info = folder / "dragonfly-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dragonfly\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[planner.fabrics]\n{entry}\n", encoding="utf-8")


def _forget() -> None:
    for cache in (outside_fabrics, _with_outside, validation_messages._schema, code):
        cache.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "dragonfly"]:
        del sys.modules[name]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path with the dragonfly installed."""
    folder = tmp_path / "site"
    (entry,) = re.findall(r'^(dragonfly) = "(.*)"$', PAGE, re.MULTILINE)
    folder.mkdir()
    install(folder, " = ".join(entry))
    monkeypatch.syspath_prepend(str(folder))
    _forget()
    yield folder
    _forget()


def test_a_stored_cell_depends_on_the_code_of_the_fabric(site: Path) -> None:
    name = "planner.fabrics:dragonfly"
    first = code()[name]
    assert first.startswith("1.0 ")
    with (site / "dragonfly" / "schema.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    _forget()
    second = code()[name]
    assert second.startswith("1.0 ")
    assert second != first
    (site / "dragonfly-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: dragonfly\nVersion: 1.1\n", encoding="utf-8"
    )
    _forget()
    assert code()[name] == second.replace("1.0 ", "1.1 ")


def fields(**health: Any) -> dict[str, Any]:
    jobs = [{"name": f"j{size}", "workload": BERT, "accelerators": size} for size in (8, 16, 2)]
    cluster = {"device": "h100-sxm", "fabric": DRAGONFLY, "health": health}
    return {"schema_version": 2, "name": "site", "cluster": cluster, "jobs": jobs}


@pytest.fixture
def solved(site: Path, tmp_path: Path, planner: Planner) -> tuple[Path, Path]:
    """An instance and its plan."""
    instance, plan = written(tmp_path, fields()), tmp_path / "plan.json"
    assert planner("solve", instance, *LIMITS, "--plan-out", plan).code == 0
    return instance, plan


def test_the_page_is_short() -> None:
    schema, plugin = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(schema.splitlines()) <= 13
    assert len(plugin.splitlines()) <= 13


@pytest.mark.slow
def test_it_is_solved_checked_and_drawn(solved: tuple[Path, Path], tmp_path: Path, planner: Planner) -> None:
    instance, plan = solved
    assert planner("check", instance, plan).code == 0
    assert {entry["job"] for entry in json.loads(plan.read_text("utf-8"))["assignments"]} == {"j8", "j16", "j2"}
    assert planner("solve", instance, *LIMITS, "--hint", plan, "--html", tmp_path / "page.html").code == 0
    page = re.sub(r"\s", "", (tmp_path / "page.html").read_text("utf-8"))
    assert '"kind":"dragonfly"' in page
    assert '"servers":4,' in page
    assert '"letter":"g"' in page


@pytest.mark.slow
def test_what_waits_is_explained(site: Path, tmp_path: Path, planner: Planner) -> None:
    """As on a fat tree, word for word."""
    asked = fields()
    asked["jobs"].append(asked["jobs"][1] | {"name": "late", "weight": 0.5})
    said = []
    for fabric in (DRAGONFLY, FABRICS["fat_tree"]):
        asked["cluster"]["fabric"] = fabric
        said.append(planner("explain", written(tmp_path, asked), "late", *LIMITS))
    assert said[0].code == 0
    assert said[0].out == said[1].out
    assert "needs 16, 6 are free" in said[0].out


@pytest.mark.slow
def test_it_survives_and_is_repaired(solved: tuple[Path, Path], planner: Planner) -> None:
    instance, plan = solved
    lost = json.loads(plan.read_text("utf-8"))["assignments"][0]["devices"][0]
    outcome = planner("repair", instance, plan, "--failed", lost, "--json")
    assert outcome.code == 0
    assert lost not in json.dumps(outcome.document["plan"])
    assert planner("solve", instance, *LIMITS, "--survive", 1).code == 0
    outcome = planner("repair", instance, plan, "--failed", "s0.g0:w1")
    assert outcome.code == 2
    assert "s0.g0:w1: names no part" in outcome.err


@pytest.mark.slow
def test_marginal_has_rows(solved: tuple[Path, Path], planner: Planner) -> None:
    outcome = planner("marginal", solved[0], "--time-limit", 2, "--json")
    changes = {row["change"] for row in outcome.document}
    assert {"one more server", "twice the network bandwidth"} <= changes


@pytest.mark.slow
@pytest.mark.parametrize("form", ["msccl", "chakra", "tuner", "circuits", "graphml"])
def test_it_is_exported_as_a_fat_tree_is(
    solved: tuple[Path, Path],
    tmp_path: Path,
    planner: Planner,
    form: str,
) -> None:
    instance, plan = solved
    tree = json.loads(instance.read_text("utf-8"))
    tree["cluster"]["fabric"] = FABRICS["fat_tree"]
    given = {"dragonfly": instance, "fat_tree": written(tmp_path, tree, "tree.json")}
    said = [planner("export", path, plan, "--format", form, "-o", tmp_path / kind) for kind, path in given.items()]
    assert said[0].code == said[1].code
    assert said[0].err.replace("dragonfly", "fat_tree") == said[1].err
    files = [sorted(path.name for path in (tmp_path / kind).rglob("*")) for kind in given]
    assert files[0] == files[1]


@pytest.mark.slow
def test_it_is_replayed_with_prices(site: Path, tmp_path: Path, planner: Planner) -> None:
    cluster = written(tmp_path, {"device": "h100-sxm", "fabric": DRAGONFLY}, "dragonfly.json")
    tree = written(tmp_path, {"device": "h100-sxm", "fabric": FABRICS["fat_tree"]}, "tree.json")
    model, prices = tmp_path / "model.json", written(tmp_path, PRICES, "prices.json")
    model.write_text(SMALL_DEMAND.model_dump_json(), encoding="utf-8")
    options = ("--policies", "first_fit,best_fit", "--jobs", 60, "--seeds", 2, "--load", "0.8", "--processes", 1)
    results = ("--results", tmp_path / "cells", "--prices", prices, "--json")
    outcome = planner("replay", model, "--cluster", cluster, "--cluster", tree, *options, *results)
    assert outcome.code == 0
    rows = {(row["cluster"], row["policy"], row["measure"]): row["mean"] for row in outcome.document}
    ours = {key[1:]: mean for key, mean in rows.items() if key[0] == "dragonfly"}
    assert ours == pytest.approx({key[1:]: mean for key, mean in rows.items() if key[0] == "tree"}, nan_ok=True)
    assert any("cost" in measure for _, measure in ours)


@pytest.mark.slow
def test_a_new_instance_and_the_schema(site: Path, tmp_path: Path, planner: Planner) -> None:
    path = tmp_path / "new.yaml"
    assert planner("new", "--fabric", "dragonfly", "--servers", 2, "--tiles", 4, "-o", path).code == 0
    assert Instance.load(path).cluster.fabric.kind == "dragonfly"
    schema = planner("schema").document
    assert "Dragonfly" in schema["$defs"]
    assert schema["$defs"]["Cluster"]["properties"]["fabric"]["discriminator"]["mapping"]["dragonfly"]
    assert planner("solve", path, *LIMITS).code == 0


def test_errors_name_fields_and_kinds(site: Path, tmp_path: Path, planner: Planner) -> None:
    wrong = fields()
    wrong["cluster"]["fabric"] = DRAGONFLY | {"gpus_per_server": 0}
    assert "cluster.fabric.gpus_per_server" in planner("solve", written(tmp_path, wrong)).err
    wrong["cluster"]["fabric"] = DRAGONFLY | {"kind": "dragonfy"}
    assert "did you mean dragonfly?" in planner("solve", written(tmp_path, wrong)).err
    assert (
        "health.failed_tray_ports: a dragonfly has none"
        in planner("solve", written(tmp_path, fields(failed_tray_ports=["s0.m0.q0#0"]))).err
    )


def test_nothing_of_it_is_known_without_its_distribution(tmp_path: Path, planner: Planner) -> None:
    outcome = planner("solve", written(tmp_path, fields()))
    assert outcome.code == 2
    assert "unknown kind 'dragonfly'" in outcome.err
    assert "Dragonfly" not in planner("schema").out


def test_what_cannot_be_imported_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "site").mkdir()
    install(tmp_path / "site", "dragonfly = dragonfly.lost:PLUGIN")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    _forget()
    with pytest.raises(InputError, match=r"dragonfly: dragonfly\.lost:PLUGIN cannot be had: No module"):
        Instance.parse(fields())
    _forget()


def test_a_file_reads_what_it_wrote(site: Path) -> None:
    cluster = Instance.parse(fields()).cluster
    assert Cluster.model_validate_json(cluster.model_dump_json()) == cluster


def test_the_controller_is_as_fast_as_on_a_fat_tree(site: Path) -> None:
    """CPU time of decisions, interleaved in one process."""
    ours, theirs = (_controller(fabric) for fabric in (DRAGONFLY, FABRICS["fat_tree"]))
    ratios = []
    for number in range(60):
        spent = [_submit(controller, number) for controller in (ours, theirs)]
        ratios.append(spent[0] / spent[1])
    held = [{name: each.device_names for name, each in of.running.items()} for of in (ours, theirs)]
    assert held[0] == held[1]
    assert len(held[0]) == 60
    assert median(ratios) <= 1.3


def _controller(fabric: dict[str, Any]) -> Controller:
    cluster = Cluster.model_validate({"device": "h100-sxm", "fabric": fabric | {"servers": 16}})
    return Controller(cluster, settings=Settings.model_validate({"greedy_budget_s": 60, "repair_budget_s": 10}))


def _submit(controller: Controller, number: int) -> float:
    request = Request.model_validate({"name": f"j{number}", "workload": BERT, "accelerators": 1})
    started = time.process_time_ns()
    controller.submit(request)
    return float(time.process_time_ns() - started)
