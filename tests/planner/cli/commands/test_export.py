"""planner export."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from costmodel.parallelism.configuration import Configuration
from costmodel.wording import counted
from planner.integrations.exports import Source, export_files, warnings_of
from planner.model.instance import Instance
from planner.model.plan import Plan
from tests.planner.checks import good
from tests.planner.checks.plans import assign, collective, held, plan_of
from tests.planner.cli.conftest import Planner

ENDINGS = {
    "msccl": {"xml", "circuits.json"},
    "chakra": {"0.et", "0.json", "3.et", "workload.0.et", "network.yml", "system.json", "memory.json", "circuits.json"},
    "tuner": {"tuner.csv"},
    "circuits": {"circuits.json"},
    "graphml": {"graphml"},
}


def saved(folder: Path, case: tuple[Instance, Plan]) -> tuple[Path, Path]:
    """Instance and plan as files."""
    instance, plan = folder / "instance.json", folder / "plan.json"
    instance.write_text(case[0].model_dump_json(), encoding="utf-8")
    case[1].dump(plan)
    return instance, plan


@pytest.mark.slow
@pytest.mark.parametrize("format_name", sorted(ENDINGS))
def test_every_format_is_written(planner: Planner, tmp_path: Path, format_name: str) -> None:
    folder = tmp_path / "new" / "folder"
    outcome = planner("export", *saved(tmp_path, good.switched()), "--format", format_name, "-o", folder)
    assert outcome.code == 0
    assert outcome.out == ""
    names = {path.name for path in folder.iterdir()}
    assert {f"switched.data.{ending}" for ending in ENDINGS[format_name]} <= names
    assert f"wrote {counted(len(names), 'file')} into" in outcome.err


def test_files_of_an_earlier_export_are_told(planner: Planner, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    options = ("--format", "circuits", "-o", folder)
    assert "not of this plan" not in planner("export", *saved(tmp_path, good.line()), *options).err
    outcome = planner("export", *saved(tmp_path, good.ring()), *options)
    said = f"warning: {folder}: not of this plan, but of an earlier export: line.pipeline.circuits.json\n"
    assert (outcome.code, said in outcome.err) == (0, True)
    assert (folder / "line.pipeline.circuits.json").exists()


def test_size_of_the_traced_call(planner: Planner, tmp_path: Path) -> None:
    files = saved(tmp_path, good.ring())
    assert planner("export", *files, "--format", "chakra", "-o", tmp_path, "--message", "4 KiB").code == 0
    nodes = json.loads((tmp_path / "ring.data.0.json").read_text("utf-8"))["nodes"]
    attributes = [attribute for node in nodes for attribute in node["attr"]]
    assert {each["int64_val"] for each in attributes if each["name"] == "comm_size"} == {1024}
    assert planner("export", *files, "--format", "msccl", "-o", tmp_path).code == 0
    assert ElementTree.parse(tmp_path / "ring.data.xml").getroot().attrib["ngpus"] == "4"


def test_pipelines_have_circuits_but_no_schedule(planner: Planner, tmp_path: Path) -> None:
    files = saved(tmp_path, good.line())
    assert planner("export", *files, "--format", "circuits", "-o", tmp_path / "out").code == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["line.pipeline.circuits.json"]
    outcome = planner("export", *files, "--format", "msccl", "-o", tmp_path / "out")
    assert outcome.code == 2
    assert "no job reduces or exchanges over circuits" in outcome.err


@pytest.mark.slow
def test_algorithms_that_an_executor_may_refuse_are_named() -> None:
    instance, _ = good.ring({"tiles_per_server": 32, "tile_rows": 1})
    devices = [f"s{i // 32}.t{i % 32}" for i in range(34)]
    long = Configuration(data=34, data_collective=collective("ring", 1))
    light = [f"{a} {b} 0" for a, b in zip(devices, [*devices[1:], devices[0]], strict=True)]
    broad = plan_of(instance, assign("ring", long, " ".join(devices), held("data", *light)))
    (said,) = warnings_of(list(export_files("msccl", Source(instance, broad, "plan.json"))))
    assert said.startswith("ring.data.xml: a threadblock has 66 steps")
    assert "MSCCL_MAX_NUM_STEPS" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "arguments", "words"),
    [
        (good.fat_tree, ("--format", "msccl"), "on fat_tree export circuits"),
        (good.single, ("--format", "circuits"), "nothing to export"),
        (good.ring, ("--format", "chakra", "--message", "lots"), "cannot read 'lots'"),
        (good.ring, ("--format", "chakra", "--message", "0"), "less than a byte"),
        (good.ring, ("--format", "chakra", "--message", "1B"), "give --message 4B or more"),
        (good.ring, ("--format", "circuits", "--message", "4B"), "--message: is for --format chakra; leave it out"),
        (
            good.ring,
            ("--format", "slices", "--wiring", "no.csv"),
            "--wiring: is for --format crossconnects",
        ),
        (good.ring, ("--format", "svg"), "svg"),
    ],
)
def test_bad_input_is_named(
    planner: Planner, tmp_path: Path, case: good.Callable[[], good.Case], arguments: tuple[str, ...], words: str
) -> None:
    outcome = planner("export", *saved(tmp_path, case()), "-o", tmp_path / "out", *arguments)
    assert outcome.code == 2
    assert words in outcome.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (lambda held: [held, held], "the plan has this job twice"),
        (lambda held: [held | {"devices": held["devices"][:-1]}], "`planner check` lists all rules"),
        (lambda held: [held | {"devices": [*held["devices"][:-1], "s9.t9"]}], "`planner check` lists all rules"),
        (lambda held: [held | {"circuits": []}], "`planner check` lists all rules"),
    ],
)
def test_a_plan_that_breaks_a_rule_is_not_exported(
    planner: Planner, tmp_path: Path, changes: Callable[[Any], list[Any]], words: str
) -> None:
    instance, plan = saved(tmp_path, good.ring())
    content = json.loads(plan.read_text())
    content["assignments"] = changes(content["assignments"][0])
    plan.write_text(json.dumps(content))
    outcome = planner("export", instance, plan, "--format", "circuits", "-o", tmp_path / "out")
    assert (outcome.code, (tmp_path / "out").exists()) == (2, False)
    assert words in outcome.err


def test_a_file_in_the_way_is_named(planner: Planner, tmp_path: Path) -> None:
    instance, plan = saved(tmp_path, good.ring())
    outcome = planner("export", instance, plan, "--format", "circuits", "-o", plan)
    assert outcome.code == 2
    assert "--output: is a file; name a folder" in outcome.err


def test_an_input_is_not_overwritten(planner: Planner, instance: Path, tmp_path: Path) -> None:
    first = tmp_path / "plan.json"
    assert planner("solve", instance, "--policy", "first_fit", "--plan-out", first).code == 0
    assert planner("export", instance, first, "--format", "circuits", "-o", tmp_path / "out").code == 0
    name = next(path.name for path in (tmp_path / "out").iterdir())
    plan = first.rename(tmp_path / name)
    before = plan.read_bytes()
    outcome = planner("export", instance, plan, "--format", "circuits", "-o", tmp_path)
    assert (outcome.code, plan.read_bytes()) == (2, before)
    assert f"{name}: --output: is an input of this command" in outcome.err
