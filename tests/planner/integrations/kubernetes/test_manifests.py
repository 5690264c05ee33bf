"""Generated manifests: what they let the planner do is what it does, and odd text stays text."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.cli import main
from planner.integrations.kubernetes.manifests import Deployment, manifests, scheduler_configuration
from planner.integrations.kubernetes.pods import is_gang
from tests.planner.integrations.kubernetes.items import pod_set
from tests.planner.integrations.kubernetes.manifests_cases import config
from tests.planner.integrations.kubernetes.objects import NODES, merge
from tests.planner.integrations.kubernetes.published import VERSION, Refused, require_published, versions
from tests.planner.integrations.kubernetes.world import World
from tests.planner.simulate.grounds import BERT, cluster

ODD = "$(reboot) `x` ' \" : # & * ! | > % @ {{ .x }} \u20ac"


def objects(text: str) -> dict[str, dict[str, Any]]:
    return {one["kind"]: one for one in yaml.safe_load_all(text)}


SINCE = "1.30"
"""the first Kubernetes that has what is installed"""


@pytest.mark.slow
@pytest.mark.parametrize("version", [SINCE, VERSION, versions()[-1]])
@pytest.mark.parametrize("kueue", ["v1beta1", "v1beta2", None])
def test_an_api_server_takes_every_manifest(version: str, kueue: str | None) -> None:
    text = manifests(config(kueue=kueue), {"cluster.yaml": ODD}, Deployment("ns", "registry/image:1"))
    for item in yaml.safe_load_all(text):
        require_published(item, version)


@cache
def whole() -> dict[str, dict[str, Any]]:
    return objects(manifests(config(), {}, Deployment("ns", "image")))


def broken(which: str, **parts: Any) -> dict[str, Any]:
    return merge(whole()[which], parts)


@pytest.mark.parametrize(
    ("item", "status"),
    [
        (broken("ClusterRole", apiVersion="rbac.authorization.k8s.io"), 404),
        (broken("ClusterRole", apiVersion="rbac.example.org/v1"), 404),
        (broken("Deployment", apiVersion="extensions/v1beta1"), 404),
        (broken("Service", kind="Servize"), 404),
        (broken("AdmissionCheck", apiVersion="kueue.x-k8s.io/v1"), 404),
        (broken("AdmissionCheck", spec={"controllerName": None}), 422),
        (broken("AdmissionCheck", spec={"controler": "x"}), 422),
        (broken("ServiceAccount", acount={}), 422),
        (broken("Deployment", spec={"replicas": "1"}), 422),
        (broken("Deployment", spec={"template": {"spec": {"container": []}}}), 422),
        (broken("Deployment", spec={"selector": None}), 422),
        (broken("Deployment", spec={"template": {"metadata": {"labels": {"app.kubernetes.io/name": "b"}}}}), 422),
        (broken("Deployment", spec={"template": {"spec": {"volumes": []}}}), 422),
        (broken("ClusterRole", rules=[{"resources": ["pods"], "verbs": ["get"]}]), 422),
        (broken("ClusterRoleBinding", roleRef={"apiGroup": "rbac.authorization.k8s.io/v1"}), 422),
        (broken("PersistentVolumeClaim", spec={"resources": {"requests": {"storage": "10 GB"}}}), 422),
        (broken("ConfigMap", data={"cluster.yaml": "x" * 2**20 + "x"}), 422),
        (broken("ConfigMap", data={"a/b": "x"}), 422),
        (broken("Namespace", metadata={"name": "A_b"}), 422),
        (broken("Service", metadata={"namespace": None}), 422),
        (broken("ValidatingAdmissionPolicyBinding", spec={"validationActions": "Deny"}), 422),
    ],
)
def test_the_emulated_api_refuses_what_a_real_one_does(item: dict[str, Any], status: int) -> None:
    with pytest.raises(Refused) as refused:
        require_published(item)
    assert refused.value.status == status


@pytest.mark.slow
def test_every_right_is_needed_and_no_other(make_world: Callable[..., World]) -> None:
    """The emulated API answers 403 to all that the role of the manifests does not hold; it lists by pages alone."""
    world = make_world()
    world.emulator.history.watch_lists = "off"
    world.workload("train", pod_set(1, 8))
    world.pod("g-0", 8, "g", 1)
    world.settle(4)
    world.emulator.change(NODES, None, "n0", spec={"unschedulable": True})
    (gang,) = [job for name, job in world.jobs().items() if is_gang(name)]
    assert gang.place is not None
    world.controller.fail(gang.place.device_names[0])
    world.settle(4)
    guards = world.emulator.guards
    assert guards.used == guards.rights
    assert world.loop.trouble == ""
    for right in guards.rights:
        assert right[1].partition("/")[0] in ("nodes", "pods", "workloads", "admissionchecks")


def test_what_the_role_does_not_hold_is_refused(make_world: Callable[..., World]) -> None:
    world = make_world()
    guards = world.emulator.guards
    guards.rights -= {("", "pods", "watch")}
    world.loop.tick()
    world.loop.tick()
    assert "403" in world.loop.trouble
    assert 'cannot watch resource "pods"' in world.loop.trouble


def test_what_is_installed() -> None:
    texts = {"cluster.yaml": ODD, "kubernetes.yaml": f"a: 1\n{ODD}\n"}
    found = objects(manifests(config(check="light"), texts, Deployment("n1", "registry/x:1")))
    assert found["AdmissionCheck"]["metadata"] == {"name": "light"}
    assert found["AdmissionCheck"]["spec"] == {"controllerName": "photonplan.io/planner"}
    assert found["ConfigMap"]["data"] == texts
    pod = found["Deployment"]["spec"]["template"]["spec"]
    assert [one["image"] for one in (*pod["initContainers"], *pod["containers"])] == ["registry/x:1"] * 2
    assert all(one["securityContext"]["readOnlyRootFilesystem"] for one in pod["containers"])
    assert found["Deployment"]["spec"]["strategy"] == {"type": "Recreate"}
    mounts = {one["name"] for one in pod["containers"][0]["volumeMounts"]}
    assert mounts <= {one["name"] for one in pod["volumes"]}


@pytest.mark.slow
@pytest.mark.parametrize("text", [ODD, "yes", "1e3", "null", "- a", "a: b", "\ttab", "a\n  b", ""])
def test_odd_text_stays_text(text: str) -> None:
    given = manifests(config(), {"cluster.yaml": text}, Deployment(text, text))
    found = objects(given)
    assert found["Namespace"]["metadata"]["name"] == text
    assert found["ConfigMap"]["data"]["cluster.yaml"] == text
    assert found["Deployment"]["spec"]["template"]["spec"]["containers"][0]["image"] == text


def test_the_extender_of_the_scheduler() -> None:
    found = objects(scheduler_configuration(config(resources=["amd.com/gpu"]), "n1"))["KubeSchedulerConfiguration"]
    (extender,) = found["extenders"]
    assert extender["urlPrefix"] == "http://planner:TOKEN@photonplan.n1.svc:8642/scheduler"
    assert [extender[f"{verb}Verb"] for verb in ("filter", "prioritize", "bind")] == ["filter", "prioritize", "bind"]
    assert extender["httpTimeout"] == "30s"
    (other,) = objects(scheduler_configuration(config(light="45.5 s"), "n1"))["KubeSchedulerConfiguration"]["extenders"]
    assert other["httpTimeout"] == "56s", "longer than binding waits for circuits"
    assert extender["managedResources"] == [{"name": "amd.com/gpu", "ignoredByScheduler": True}]


def test_without_kueue_nothing_of_it_is_asked_for() -> None:
    text = manifests(config(kueue=None), {}, Deployment("ns", "image"))
    assert not re.search("kueue", text)


@pytest.mark.slow
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


def test_what_a_config_map_does_not_hold_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = cluster("fat_tree").model_dump_json(by_alias=True)
    (tmp_path / "cluster.yaml").write_text(text + " " * 2**20)
    one = tmp_path / "kubernetes.yaml"
    one.write_text(yaml.safe_dump({"nodes": "gpu-[0-3]", "workloads": {"bert": BERT}}))
    command = ["kubernetes", "manifests", str(tmp_path / "cluster.yaml"), "--config", str(one)]
    assert main([*command, "--image", "x"]) == 2
    assert "more than the 1,048,576 that a ConfigMap holds" in capsys.readouterr().err
    for image in ("", " x", "x\n", "x y"):
        assert main([*command, "--image", image]) == 2
        assert capsys.readouterr().err.startswith("error: --image: ")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a b@evil.com/x", "", "A", "-a", "a\n", "a" * 64, "a.b"])
def test_a_namespace_is_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    one = tmp_path / "kubernetes.yaml"
    one.write_text(yaml.safe_dump({"nodes": "gpu-[0-3]", "workloads": {"bert": BERT}}))
    assert main(["kubernetes", "scheduler", "--config", str(one), f"--namespace={name}"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: --namespace: ")
