"""Objects that put the planner into a Kubernetes cluster: rights, the check, the service, a policy that keeps its
annotations its own, kube-scheduler's extender.

All is built as data and written by the YAML library, which quotes what needs it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

import yaml

from planner.integrations.kubernetes.admission_policy import policies
from planner.integrations.kubernetes.config import CONTROLLER, Kubernetes
from planner.integrations.slices.resource import GROUP

NAME, PORT, USER = "photonplan", 8642, 10001
"""of all objects; of the service; of the process, which is not root"""
REST_S = 10
"""time for an answer of the extender beside what it waits for circuits"""
RBAC = "rbac.authorization.k8s.io"
MOST_DATA = 2**20
"""bytes that a ConfigMap holds"""
Manifest = dict[str, Any]


@dataclass(frozen=True)
class Deployment:
    """Namespace, image and storage of the planner in a cluster."""

    namespace: str
    image: str
    """holds the planner with its extras `serve` and `kubernetes`"""
    storage: str = "10Gi"
    """of the volume with the journal"""


def manifests(config: Kubernetes, files: Mapping[str, str], at: Deployment) -> str:
    """YAML for `kubectl apply`; `files`: texts of cluster.yaml and kubernetes.yaml."""
    about = {"name": NAME, "namespace": at.namespace}
    account = {"kind": "ServiceAccount", "name": NAME, "namespace": at.namespace}
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": NAME}
    volume = {"accessModes": ["ReadWriteOncePod"], "resources": {"requests": {"storage": at.storage}}}
    port = {"name": "http", "protocol": "TCP", "port": PORT, "targetPort": "http"}
    found: list[Manifest] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": at.namespace}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": about},
        {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": NAME}, "rules": _rules(config)},
        {
            "apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": NAME},
            "roleRef": role, "subjects": [account],
        },
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": dict(files)},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": about, "spec": volume},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": about, "spec": _deployment(config, at)},
        {"apiVersion": "v1", "kind": "Service", "metadata": about, "spec": {"selector": _labels(), "ports": [port]}},
    ]  # fmt: skip
    if config.kueue is not None:
        version = f"kueue.x-k8s.io/{config.kueue}"
        check = {"metadata": {"name": config.check}, "spec": {"controllerName": CONTROLLER}}
        found.append({"apiVersion": version, "kind": "AdmissionCheck", **check})
    return _text(*found, *policies(config, f"system:serviceaccount:{at.namespace}:{NAME}"))


def scheduler_configuration(config: Kubernetes, namespace: str) -> str:
    """The file that kube-scheduler reads by --config. TOKEN stands for that of the service: the file is a secret.

    The planner alone counts accelerators: of a node that is full by its own count kube-scheduler would ask nobody, so
    that a gang before a full cluster would be unknown, and would preempt pods by priority alone.
    """
    extender = {
        "urlPrefix": f"http://planner:TOKEN@{NAME}.{namespace}.svc:{PORT}/scheduler",
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "bindVerb": "bind",
        "weight": 1,
        "httpTimeout": f"{ceil(config.light_s) + REST_S}s",
        "nodeCacheCapable": True,
        "ignorable": False,
        "managedResources": [{"name": name, "ignoredByScheduler": True} for name in config.resources],
    }
    version = "kubescheduler.config.k8s.io/v1"
    return _text({"apiVersion": version, "kind": "KubeSchedulerConfiguration", "extenders": [extender]})


def _rules(config: Kubernetes) -> list[Manifest]:
    """All that the planner asks of the API, and no more."""
    reads, rules = ["list", "watch"], list[Manifest]()
    if config.kueue is not None:
        group = ["kueue.x-k8s.io"]
        rules += [
            {"apiGroups": group, "resources": ["workloads"], "verbs": reads},
            {"apiGroups": group, "resources": ["admissionchecks"], "verbs": ["get"]},
            {"apiGroups": group, "resources": ["workloads/status", "admissionchecks/status"], "verbs": ["patch"]},
        ]
    if config.slices is not None:
        verbs = ["list", "create", "delete"]
        rules += [{"apiGroups": [GROUP], "resources": ["slices"], "verbs": verbs}]
    return [
        *rules,
        {"apiGroups": [""], "resources": ["nodes"], "verbs": reads},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", *reads, "patch", "delete"]},
        {"apiGroups": [""], "resources": ["pods/binding"], "verbs": ["create"]},
    ]


def _labels() -> dict[str, str]:
    return {"app.kubernetes.io/name": NAME}


def _deployment(config: Kubernetes, at: Deployment) -> Manifest:
    """One pod at a time: a journal has one writer."""
    volumes = [
        {"name": "config", "configMap": {"name": NAME}},
        {"name": "secret", "secret": {"secretName": f"{NAME}-token"}},
        {"name": "token", "emptyDir": {"medium": "Memory"}},
        {"name": "state", "persistentVolumeClaim": {"claimName": NAME}},
    ]
    rights = {"runAsNonRoot": True, "runAsUser": USER, "fsGroup": USER, "seccompProfile": {"type": "RuntimeDefault"}}
    spec = {
        "serviceAccountName": NAME,
        "securityContext": rights,
        "initContainers": [_token(at)],
        "containers": [_service(config, at)],
        "volumes": volumes,
    }
    return {
        "replicas": 1,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": _labels()},
        "template": {"metadata": {"labels": _labels()}, "spec": spec},
    }


def _container(name: str, at: Deployment, command: list[str], mounts: dict[str, str]) -> Manifest:
    rights = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    volume_mounts = [{"name": volume, "mountPath": path} for volume, path in mounts.items()]
    return {
        "name": name, "image": at.image, "command": command, "securityContext": rights, "volumeMounts": volume_mounts,
    }  # fmt: skip


def _token(at: Deployment) -> Manifest:
    """The service takes a token only from a file that is its own alone, which a mounted secret is not."""
    command = ["install", "-m", "0600", "/secret/token", "/token/token"]
    return _container("token", at, command, {"secret": "/secret", "token": "/token"})


def _service(config: Kubernetes, at: Deployment) -> Manifest:
    command = [
        "planner", "serve", "/config/cluster.yaml", "--kubernetes", "/config/kubernetes.yaml",
        "--journal", "/state/planner.db", "--token-file", "/token/token", "--host", "0.0.0.0", "--port", str(PORT),
    ]  # fmt: skip
    if config.slices is not None:
        command += ["--driver", "slices:/config/kubernetes.yaml"]
    probe = {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 10}
    return _container("planner", at, command, {"config": "/config", "token": "/token", "state": "/state"}) | {
        "ports": [{"name": "http", "protocol": "TCP", "containerPort": PORT}],
        "readinessProbe": probe,
        "livenessProbe": probe | {"failureThreshold": 6},
    }


def _text(*found: Manifest) -> str:
    text: str = yaml.dump_all(found, Dumper=_Plain, sort_keys=False, explicit_start=True, allow_unicode=True)
    return text


class _Plain(yaml.SafeDumper):
    """No anchors: parts that are the same are written twice."""

    def ignore_aliases(self, data: object) -> bool:
        return True
