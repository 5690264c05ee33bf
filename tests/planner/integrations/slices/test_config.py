"""The section `slices` of kubernetes.yaml: what is wrong with it is told with its remedy."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.cli import main
from planner.cli.driver_names import driver_named
from planner.integrations.slices.config import load_slices
from planner.integrations.slices.driver import SliceDriver
from planner.model.errors import InputError
from tests.planner.integrations.slices.cubes import CLUSTER, FABRIC, PARTITIONS


def written(folder: Path, *, slices: Any, **cluster: Any) -> Path:
    (folder / "cluster.yaml").write_text(yaml.safe_dump(CLUSTER | cluster))
    path = folder / "kubernetes.yaml"
    path.write_text(yaml.safe_dump({"nodes": "n[0-3]", "slices": slices}))
    return path


def test_cubes_have_the_names_that_are_given(tmp_path: Path) -> None:
    found = load_slices(written(tmp_path, slices={"partitions": PARTITIONS, "ready": "1 min"}))
    assert (found.kind, found.partition_of, found.settings.ready_s) == ("tpu7x", PARTITIONS, 60)
    assert load_slices(written(tmp_path, slices={})).partition_of == {f"s{i}": f"s{i}" for i in range(4)}


@pytest.mark.parametrize(
    ("slices", "cluster", "said"),
    [
        (None, {}, "slices: is missing"),
        ({"cluster": "none.yaml"}, {}, "none.yaml"),
        ({"partitions": {"s9": "x"}}, {}, "is no cube; cubes are s0 to s3"),
        ({"partitions": {"s0": "x"}}, {}, "s1 has none; name the partition of each cube"),
        ({"partitions": {f"s{i}": "x" for i in range(4)}}, {}, "two cubes have one partition"),
        ({}, {"device": "h100-sxm"}, "no device of Slices"),
        ({}, {"fabric": FABRIC | {"sides": [2, 2, 2]}}, "no torus of 4 x 4 x 4 cubes with switches"),
        ({}, {"fabric": {key: one for key, one in FABRIC.items() if key != "switches"}}, "no torus of 4 x 4 x 4"),
        ({"ready": "0 s"}, {}, "slices.ready"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, slices: Any, cluster: dict[str, Any], said: str) -> None:
    path = written(tmp_path, slices=slices, **cluster)
    with pytest.raises(InputError, match=said):
        load_slices(path)


def test_the_driver_by_its_name(tmp_path: Path) -> None:
    path = written(tmp_path, slices={"partitions": PARTITIONS})
    with pytest.raises(InputError, match="this is no pod with an account"):
        driver_named(f"slices:{path}", tmp_path / "planner.db")
    (tmp_path / "config").write_text(
        yaml.safe_dump(
            {"current-context": "a", "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
             "clusters": [{"name": "a", "cluster": {"server": "http://127.0.0.1:1"}}],
             "users": [{"name": "a", "user": {"token": "x"}}]}
        )
    )  # fmt: skip
    path.write_text(path.read_text() + "kubeconfig: config\n")
    assert isinstance(driver_named(f"slices:{path}", tmp_path / "planner.db"), SliceDriver)


def test_manifests_run_the_driver_on_the_cluster_of_the_pod(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, slices={"partitions": PARTITIONS})
    command = ["kubernetes", "manifests", str(tmp_path / "cluster.yaml"), "--image", "x", "--config"]
    assert main([*command, str(path)]) == 0
    found = {one["kind"]: one for one in yaml.safe_load_all(capsys.readouterr().out)}
    (container,) = found["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert container["command"][-2:] == ["--driver", "slices:/config/kubernetes.yaml"]
    rule = {"apiGroups": ["accelerator.gke.io"], "resources": ["slices"], "verbs": ["list", "create", "delete"]}
    assert rule in found["ClusterRole"]["rules"]
    path.write_text(yaml.safe_dump({"nodes": "n[0-3]", "slices": {"cluster": "other.yaml"}}))
    assert main([*command, str(path)]) == 2
    assert "slices.cluster: leave it out" in capsys.readouterr().err
