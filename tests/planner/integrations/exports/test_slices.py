"""Slices of GKE from plans on cubes: published fields, no cube in two."""

import json
import re
from math import prod
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner import solve
from planner.cli import main
from planner.controller import Controller, Settings
from planner.integrations.exports.slices import slices_of, slices_text
from planner.integrations.kubernetes.config import Kubernetes, KubernetesSite, SliceSettings
from planner.integrations.slices.config import SliceSite
from planner.integrations.slices.hosts import Hosts
from planner.integrations.slices.objects import base_name, names_of
from planner.integrations.slices.partitions import named_by
from planner.integrations.slices.resource import SliceSpec
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Plan
from tests.planner.integrations.slices.cubes import CLUSTER, FABRIC, HOSTS, PARTS, RULES, host_of, nodes, request
from tests.planner.simulate.grounds import BERT


def _instance(device: str = "tpu-v7", side: int = 4, sizes: tuple[int, ...] = (128, 256, 64, 16)) -> Instance:
    fabric = {
        "kind": "torus", "servers": 8, "sides": [side] * 3, "link_bandwidth": "50 GB/s", "alpha": "1 us",
        "link_energy": "10 pJ/b", "switches": {"ports": 136, "energy": "20 pJ/b", "reconfiguration": "20 ms"},
    }  # fmt: skip
    workload = BERT | {"global_batch": 1024}
    jobs = [{"name": f"Job_{n}", "workload": workload, "accelerators": size} for n, size in enumerate(sizes)]
    return Instance.parse(
        {"schema_version": 2, "name": "n", "cluster": {"device": device, "fabric": fabric}, "jobs": jobs}
    )


def _planned(instance: Instance) -> Plan:
    return solve(instance, policy="best_fit").plan


@pytest.fixture(scope="module")
def case() -> tuple[Instance, Plan]:
    instance = _instance()
    return instance, _planned(instance)


def test_each_job_of_whole_cubes_is_one_slice(case: tuple[Instance, Plan]) -> None:
    found: list[dict[str, Any]] = [*yaml.safe_load_all(slices_text(*case))]
    assert [each["metadata"]["name"] for each in found] == [base_name(f"Job_{number}") for number in range(3)]
    cubes: list[str] = []
    for each, chips in zip(found, (128, 256, 64), strict=True):
        spec = each["spec"]
        assert (each["apiVersion"], each["kind"], spec["type"]) == ("accelerator.gke.io/v1beta1", "Slice", "tpu7x")
        assert re.fullmatch(r"\d+x\d+(x\d+)?", spec["topology"])
        x, y, z = sorted(map(int, spec["topology"].split("x")))
        assert (x * y * z, len(spec["partitionIds"])) == (chips, chips // 64)
        assert all(side % 4 == 0 for side in (x, y, z))
        job = re.sub("job-(.)-.*", r"Job_\1", each["metadata"]["name"])
        assert {*spec["partitionIds"]} == {device.rpartition(".")[0] for device in case[1][job].devices}
        cubes += spec["partitionIds"]
    assert len(cubes) == len({*cubes})


def test_partitions_have_the_names_of_a_file(case: tuple[Instance, Plan], tmp_path: Path) -> None:
    names = tmp_path / "names.yaml"
    names.write_text(yaml.safe_dump({"partitions": {f"s{i}": f"id{i}" for i in range(8)}}), "utf-8")
    plain, named = slices_text(*case), slices_text(*case, names)
    assert named == re.sub(r"- s(\d)", r"- id\1", plain)
    names.write_text(yaml.safe_dump({"partitions": {f"s{i}": "id" for i in range(8)}}), "utf-8")
    with pytest.raises(InputError, match="two cubes have one partition"):
        slices_text(*case, names)
    names.write_text("partitions: {s0: a}\n", "utf-8")
    with pytest.raises(InputError, match="s1 has none"):
        slices_text(*case, names)


def test_a_cube_in_two_slices_is_refused(case: tuple[Instance, Plan]) -> None:
    instance, plan = case
    twice = plan.model_copy(
        update={"assignments": (*plan.assignments, plan["Job_2"].model_copy(update={"job": "Job_3"}))}
    )
    with pytest.raises(ValueError, match="partitions would overlap"):
        slices_text(instance, twice)


@pytest.mark.parametrize(
    ("device", "side", "sizes", "said"),
    [
        ("h100-sxm", 4, (64,), "no device of Slices"),
        ("tpu-v7", 2, (16,), "is not of 4 x 4 x 4"),
        ("tpu-v7", 4, (16,), "no job has whole cubes"),
    ],
)
def test_what_has_no_slices_is_told(device: str, side: int, sizes: tuple[int, ...], said: str) -> None:
    instance = _instance(device, side, sizes)
    with pytest.raises(ValueError, match=said):
        slices_text(instance, _planned(instance))


def test_the_command_writes_them(case: tuple[Instance, Plan], tmp_path: Path) -> None:
    instance, plan = case
    (tmp_path / "n.json").write_text(instance.model_dump_json(), "utf-8")
    plan.dump(tmp_path / "plan.json")
    given = [str(tmp_path / "n.json"), str(tmp_path / "plan.json")]
    assert main(["export", *given, "--format", "slices", "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "slices.yaml").read_text("utf-8") == slices_text(instance, plan)


def _divided(folder: Path, sizes: tuple[int, ...]) -> tuple[Instance, Plan, list[str]]:
    """A plan on divided cubes, and the options that name their nodes."""
    given = _instance(sizes=sizes).model_dump(mode="json", by_alias=True, exclude_none=True)
    given["cluster"] = CLUSTER | {"fabric": FABRIC | {"partitions": PARTS}}
    instance = Instance.parse(given)
    plan = _planned(instance)
    names = {f"n{number}": f"s{number // HOSTS}" for number in range(4 * HOSTS)}
    (folder / "kubernetes.yaml").write_text(yaml.safe_dump({"nodes": names}), "utf-8")
    (folder / "nodes.json").write_text(json.dumps({"items": nodes()}), "utf-8")
    (folder / "n.json").write_text(instance.model_dump_json(by_alias=True, exclude_none=True), "utf-8")
    plan.dump(folder / "plan.json")
    return instance, plan, ["--kubernetes", str(folder / "kubernetes.yaml"), "--nodes", str(folder / "nodes.json")]


def test_jobs_inside_cubes_are_partitions_by_the_labels_of_their_nodes(tmp_path: Path) -> None:
    instance, plan, hosts = _divided(tmp_path, (64, 4, 8, 16, 32, 4))
    command = ["export", str(tmp_path / "n.json"), str(tmp_path / "plan.json"), "--format", "slices"]
    assert main([*command, "-o", str(tmp_path / "out"), *hosts]) == 0
    found = [*yaml.safe_load_all((tmp_path / "out" / "slices.yaml").read_text("utf-8"))]
    assert len(found) == len(plan.assignments) == 6
    label = {
        (node["metadata"]["name"], key): text for node in nodes() for key, text in node["metadata"]["labels"].items()
    }
    for each, assignment in zip(found, plan.assignments, strict=True):
        spec = SliceSpec.model_validate(each["spec"])
        sides = [*map(int, spec.topology.split("x"))]
        assert prod(sides) == len(assignment.devices)
        places = [instance.cluster.fabric.parse_device(name) for name in assignment.devices]
        key = f"cloud.google.com/gke-tpu-partition-{spec.topology}-id"
        if prod(sides) < 64:
            assert {label[host_of(*place), key] for place in places} == {*spec.partition_ids}


def test_nodes_of_jobs_inside_cubes_are_given_whole_or_not_at_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    instance, plan, hosts = _divided(tmp_path, (4, 8))
    with pytest.raises(ValueError, match="nodes of jobs inside cubes are not given"):
        slices_text(instance, plan)
    command = ["export", str(tmp_path / "n.json"), str(tmp_path / "plan.json"), "--format", "slices", "-o"]
    assert main([*command, str(tmp_path / "out"), *hosts[:2]]) == 2
    assert "--kubernetes: is of use with --nodes alone" in capsys.readouterr().err
    (tmp_path / "nodes.json").write_text(json.dumps({"items": nodes()[:3]}), "utf-8")
    assert main([*command, str(tmp_path / "out"), *hosts]) == 2
    assert "are no partition 2x2x" in capsys.readouterr().err
    (tmp_path / "nodes.json").write_text("{}", "utf-8")
    assert main([*command, str(tmp_path / "out"), *hosts]) == 2
    assert "give what `kubectl get nodes -o json` prints" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("sizes", "ended"),
    [
        pytest.param((64, 128, 16, 4), (), id="whole cubes in both racks"),
        pytest.param((*[16] * 16, 32), (4, 12), id="partitions in both racks"),
    ],
)
def test_a_slice_has_the_name_and_the_spec_that_the_driver_gives_it(
    sizes: tuple[int, ...], ended: tuple[int, ...]
) -> None:
    upper = {"kind": "packets", "bandwidth": "50 GB/s", "alpha": "2 us", "energy": "10 pJ/b"}
    joined = FABRIC | {"servers": 2, "racks": 2, "upper": upper, "partitions": PARTS}
    cluster = Cluster.model_validate(CLUSTER | {"fabric": joined})
    cubes = cluster.fabric.server_names
    node_names = {f"n{number}": cubes[number // HOSTS] for number in range(4 * HOSTS)}
    site = KubernetesSite(Kubernetes.model_validate({"nodes": node_names}), cluster, node_names)
    driver = SliceSite(SliceSettings.model_validate({}), cluster, "tpu7x", None, site)
    named = named_by(nodes(), site.server_of)
    with Controller(cluster, Path(":memory:"), Settings.model_validate(RULES)) as controller:
        for number, chips in enumerate(sizes):
            controller.submit(request(f"Team/{number}", chips))
        for number in ended:
            controller.finish(f"Team/{number}")
        running, planned = controller.running, controller.plan()
    made: dict[str, dict[str, Any]] = {}
    for job, place in running.items():
        specs = driver.specs(job, place.circuits_json, named)
        made |= dict(zip(names_of(job, len(specs)), specs, strict=True))
    assert planned is not None
    found = slices_of(*planned, None, Hosts(site, named))
    assert {each["metadata"]["name"]: each["spec"] for each in found} == made
    assert len(found) == len(made) == len(running) + 1, "one job is in both racks"
