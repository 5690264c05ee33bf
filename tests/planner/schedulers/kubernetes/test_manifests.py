"""Generated manifests: what they let the planner do is what it does, and odd text stays text."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.cli import main
from planner.schedulers.kubernetes.config import Kubernetes
from planner.schedulers.kubernetes.manifests import Installation, manifests, scheduler_configuration
from tests.planner.replay.grounds import BERT, cluster
from tests.planner.schedulers.kubernetes.contract import WRITES

ODD = "$(reboot) `x` ' \" : # & * ! | > % @ {{ .x }} \u20ac"


def config(**changes: Any) -> Kubernetes:
    return Kubernetes.model_validate({"nodes": "n[0-3]", "workloads": {"bert": BERT}} | changes)


def objects(text: str) -> dict[str, dict[str, Any]]:
    return {one["kind"]: one for one in yaml.safe_load_all(text)}


def test_rights_are_those_that_are_used() -> None:
    found = objects(manifests(config(), {}, Installation("ns", "image")))
    may = {
        (group, resource, verb)
        for rule in found["ClusterRole"]["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    verbs = {"PATCH": "patch", "POST": "create", "DELETE": "delete"}
    written = set()
    for method, pattern, _ in WRITES:
        parts = pattern.replace("[^/]+", "x").split("/")
        group = parts[2] if parts[1] == "apis" else ""
        rest = [part for part in parts[4 if group else 3 :] if part != "x" and part != "namespaces"]
        written.add((group, "/".join(rest), verbs[method]))
    reads = {one for one in may if one[2] in ("get", "list", "watch")}
    assert may - reads == written
    assert {one[1] for one in reads} == {"workloads", "admissionchecks", "nodes", "pods"}


def test_what_is_installed() -> None:
    texts = {"cluster.yaml": ODD, "kubernetes.yaml": f"a: 1\n{ODD}\n"}
    found = objects(manifests(config(check="light"), texts, Installation("n1", "registry/x:1")))
    assert found["AdmissionCheck"]["metadata"] == {"name": "light"}
    assert found["AdmissionCheck"]["spec"] == {"controllerName": "photonplan.io/planner"}
    assert found["ConfigMap"]["data"] == texts
    pod = found["Deployment"]["spec"]["template"]["spec"]
    assert [one["image"] for one in (*pod["initContainers"], *pod["containers"])] == ["registry/x:1"] * 2
    assert all(one["securityContext"]["readOnlyRootFilesystem"] for one in pod["containers"])
    assert found["Deployment"]["spec"]["strategy"] == {"type": "Recreate"}
    mounts = {one["name"] for one in pod["containers"][0]["volumeMounts"]}
    assert mounts <= {one["name"] for one in pod["volumes"]}


@pytest.mark.parametrize("text", [ODD, "yes", "1e3", "null", "- a", "a: b", "\ttab", "a\n  b", ""])
def test_odd_text_stays_text(text: str) -> None:
    given = manifests(config(), {"cluster.yaml": text}, Installation(text, text))
    found = objects(given)
    assert found["Namespace"]["metadata"]["name"] == text
    assert found["ConfigMap"]["data"]["cluster.yaml"] == text
    assert found["Deployment"]["spec"]["template"]["spec"]["containers"][0]["image"] == text


def test_the_extender_of_the_scheduler() -> None:
    found = objects(scheduler_configuration(config(resources=["amd.com/gpu"]), "n1"))["KubeSchedulerConfiguration"]
    (extender,) = found["extenders"]
    assert extender["urlPrefix"] == "http://planner:TOKEN@photonplan.n1.svc:8642/scheduler"
    assert [extender[f"{verb}Verb"] for verb in ("filter", "prioritize", "bind")] == ["filter", "prioritize", "bind"]
    assert extender["managedResources"] == [{"name": "amd.com/gpu", "ignoredByScheduler": False}]


def test_without_kueue_nothing_of_it_is_asked_for() -> None:
    text = manifests(config(kueue=None), {}, Installation("ns", "image"))
    assert not re.search("kueue", text)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cluster.yaml").write_text(cluster("fat_tree").model_dump_json(by_alias=True))
    one = tmp_path / "kubernetes.yaml"
    one.write_text(yaml.safe_dump({"nodes": "gpu-[0-3]", "workloads": {"bert": BERT}}))
    place = str(tmp_path / "cluster.yaml")
    assert main(["kubernetes", "manifests", place, "--config", str(one), "--image", "x"]) == 0
    assert objects(capsys.readouterr().out)["ConfigMap"]["data"]["kubernetes.yaml"] == one.read_text()
    assert main(["kubernetes", "scheduler", "--config", str(one)]) == 0
    assert "KubeSchedulerConfiguration" in capsys.readouterr().out
    one.write_text(yaml.safe_dump({"nodes": "gpu-[0-2]", "workloads": {"bert": BERT}}))
    assert main(["kubernetes", "manifests", place, "--config", str(one), "--image", "x"]) == 2
    assert "for 4 servers; name as many" in capsys.readouterr().err
    one.write_text(yaml.safe_dump({"nodes": "gpu-[0-3]", "workloads": {"bert": BERT}, "kubeconfig": "k"}))
    assert main(["kubernetes", "manifests", place, "--config", str(one), "--image", "x"]) == 2
    assert "leave it out" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a b@evil.com/x", "", "A", "-a", "a\n", "a" * 254])
def test_a_namespace_is_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    one = tmp_path / "kubernetes.yaml"
    one.write_text(yaml.safe_dump({"nodes": "gpu-[0-3]", "workloads": {"bert": BERT}}))
    assert main(["kubernetes", "scheduler", "--config", str(one), f"--namespace={name}"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: --namespace: ")
