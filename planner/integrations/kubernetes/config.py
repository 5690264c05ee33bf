"""Configuration of a Kubernetes cluster: server of each node, resources that users may ask for, address of the API."""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from costmodel.spec import Duration, Spec
from costmodel.workloads import Workload
from planner.fabrics import plugin_of
from planner.integrations.hostlist import hosts_of
from planner.integrations.nodes import server_of_nodes
from planner.model import files
from planner.model.cluster import Cluster
from planner.model.errors import InputError

Object = dict[str, Any]
"""of the API, as its JSON has it"""
DOMAIN = "photonplan.io"
"""prefix of all labels and annotations"""
CONTROLLER = f"{DOMAIN}/planner"
"""`spec.controllerName` of an AdmissionCheck that is ours"""
MOST_NAME, MOST_PART = 253, 63
"""characters of the name of an object, and of a namespace or of a label behind its prefix"""
MOST_LABEL = MOST_NAME + 1 + MOST_PART
_PART = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = rf"^{_PART}(\.{_PART})*$"
_LABEL = rf"^({_PART}(\.{_PART})*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?$"
CONTROLLER_MANAGER = "system:kube-controller-manager"
"""the user that Kubernetes' own controllers are where they have no accounts of their own"""


def is_object_name(text: str) -> bool:
    """True if an object of Kubernetes may have this name."""
    return len(text) <= MOST_NAME and re.fullmatch(_NAME, text) is not None


def is_namespace(text: str) -> bool:
    """True if a namespace may have this name."""
    return len(text) <= MOST_PART and re.fullmatch(_PART, text) is not None


def _object_name(text: str) -> str:
    if not is_object_name(text):
        raise ValueError(f"'{text}' is no name of an object; use lower-case letters and digits, with - or . between")
    return text


def _label(text: str) -> str:
    if len(text) > MOST_LABEL or re.fullmatch(_LABEL, text) is None:
        raise ValueError(f"'{text}' is no name of a resource or label; write it like nvidia.com/gpu")
    return text


Label = Annotated[
    str, AfterValidator(_label), WithJsonSchema({"type": "string", "pattern": _LABEL, "maxLength": MOST_LABEL})
]
ObjectName = Annotated[
    str, AfterValidator(_object_name), WithJsonSchema({"type": "string", "pattern": _NAME, "maxLength": MOST_NAME})
]


def _node_names(text: str) -> str:
    for name in hosts_of(text) if {"[", ","} & {*text} else [text]:
        _object_name(name)
    return text


NodeNames = Annotated[str, AfterValidator(_node_names)]


def _account(text: str) -> str:
    namespace, _, name = text.partition(":")
    if text != CONTROLLER_MANAGER and not (is_namespace(namespace) and is_object_name(name)):
        raise ValueError(f"'{text}' is no service account; write it as namespace:name")
    return text


Account = Annotated[str, AfterValidator(_account)]
CONTROLLERS = (
    "kube-system:job-controller", "kube-system:replicaset-controller", "kube-system:statefulset-controller",
    CONTROLLER_MANAGER, "jobset-system:jobset-controller-manager", "kueue-system:kueue-controller-manager",
)  # fmt: skip


class SliceSettings(Spec):
    """Slices of GKE, for `planner serve --driver slices:kubernetes.yaml`."""

    cluster: Path = Path("cluster.yaml")
    """file with the cluster of cubes, or with an instance on it; relative to this file"""
    partitions: dict[str, str] | None = None
    """what GKE calls each cube; None: as the planner does"""
    ready_s: Annotated[Duration, Field(gt=0, le=600)] = 20.0
    """time that one call waits until a Slice is ready, or gone; it is then looked at again"""


class Kubernetes(Spec):
    """kubernetes.yaml: one Kubernetes cluster."""

    nodes: dict[NodeNames, str] | str
    """server of each node, such as {gpu-0: s0}, or of several nodes that are one server, such as {"cube-[0-15]": s0}:
    each has an equal share of its accelerators, in this order (where the fabric has `partitions`: one host each, the
    last axis fastest); or a list such as gpu-[0-7], which are s0, s1, ..."""
    workloads: dict[str, Workload] = Field(default_factory=dict)
    """what users name by the annotation photonplan.io/workload"""
    default_workload: str | None = None
    """of those that name none; None: these are refused"""
    check: ObjectName = "photonplan"
    """name of the AdmissionCheck"""
    kueue: Literal["v1beta1", "v1beta2"] | None = "v1beta2"
    """version of the API of Kueue, all fields that are used are the same: v1beta2 from release 0.15 on, v1beta1 until
    0.19; None: there is no Kueue"""
    resources: tuple[Label, ...] = ("nvidia.com/gpu", "amd.com/gpu")
    """extended resources that count as accelerators"""
    node_label: Label = "kubernetes.io/hostname"
    """label whose value is the name of a node, for selectors"""
    tenant: Literal["namespace", "queue"] = "namespace"
    """who counts as a tenant: the namespace, or namespace and LocalQueue"""
    controllers: tuple[Account, ...] = CONTROLLERS
    """service accounts, as namespace:name, that make pods of Kueue's Workloads or write into those that wait: beside
    the planner they alone may give pods its annotations"""
    slices: SliceSettings | None = None
    """where jobs of whole cubes are Slices of GKE; None: there are none"""
    kubeconfig: str | None = None
    """file relative to this one; None: the account of the pod that runs the planner"""
    requeue_s: Annotated[Duration, Field(ge=1, le=3600)] = 5.0
    """time that Kueue waits before it takes back a workload that lost its place"""
    hold_s: Annotated[Duration, Field(ge=1, le=3600)] = 120.0
    """time that the place of a workload that was sent back is kept for it"""
    light_s: Annotated[Duration, Field(ge=0, le=600)] = 20.0
    """time that the binding of a pod waits for circuits before kube-scheduler tries again; its `httpTimeout`, as
    `planner kubernetes scheduler` writes it, is 10 s more"""
    say_s: Duration = 10.0
    """least time between two messages on why the same workload waits"""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.default_workload is not None and self.default_workload not in self.workloads:
            raise ValueError(f"default_workload: '{self.default_workload}' is not in workloads; add it there")
        if self.hold_s <= self.requeue_s:
            raise ValueError("hold: must be longer than requeue, or no workload gets its place back")
        if not self.resources:
            raise ValueError("resources: give at least one, such as nvidia.com/gpu")
        return self


@dataclass(frozen=True)
class KubernetesSite:
    """A configuration with the cluster that a controller plans: each server one node, or as many as all others."""

    config: Kubernetes
    cluster: Cluster
    server_of: dict[str, str]
    """by node; those of one server in the order of their accelerators"""

    @cached_property
    def nodes_of(self) -> dict[str, tuple[str, ...]]:
        """By server."""
        found: dict[str, tuple[str, ...]] = {}
        for node, server in self.server_of.items():
            found[server] = (*found.get(server, ()), node)
        return found

    @cached_property
    def nodes_per_server(self) -> int:
        return len(self.server_of) // len(self.nodes_of)

    @property
    def per_server(self) -> int:
        """Accelerators of a server."""
        return self.cluster.fabric.devices_per_server

    @cached_property
    def per_node(self) -> int:
        """Accelerators of a node."""
        return self.per_server // self.nodes_per_server

    @cached_property
    def has_hosts(self) -> bool:
        """True if nodes are hosts that jobs inside a server take whole."""
        return bool(plugin_of(self.cluster.fabric).hosts(self.cluster.fabric))

    def on_node(self, server: int, slot: int) -> tuple[str, int]:
        """Node of an accelerator, and its index there."""
        number, index = self._seats[slot]
        return self._nodes_by_number[server][number], index

    @cached_property
    def _seats(self) -> list[tuple[int, int]]:
        """Number of the node among those of its server, and index there, by slot."""
        each, slots = self.per_node, range(self.per_server)
        hosts = plugin_of(self.cluster.fabric).hosts(self.cluster.fabric)
        hosts = hosts or tuple(tuple(slots[first : first + each]) for first in slots[::each])
        found = {slot: (number, index) for number, host in enumerate(hosts) for index, slot in enumerate(host)}
        return [found[slot] for slot in slots]

    @cached_property
    def _nodes_by_number(self) -> list[tuple[str, ...]]:
        """As `nodes_of`, by number of the server."""
        return [self.nodes_of[server] for server in self.cluster.fabric.server_names]

    @cached_property
    def parts_of(self) -> dict[str, tuple[str, ...]]:
        """What fails with each node: its server, or of one of several nodes its accelerators."""
        if self.nodes_per_server == 1:
            return {node: (server,) for node, server in self.server_of.items()}
        found: dict[str, tuple[str, ...]] = {}
        fabric = self.cluster.fabric
        for server, slot in product(range(fabric.num_servers), range(self.per_server)):
            node, _ = self.on_node(server, slot)
            found[node] = (*found.get(node, ()), fabric.device_name(server, slot))
        return found


def load_site(path: Path, cluster: Cluster) -> KubernetesSite:
    """Read kubernetes.yaml; InputError names file and field."""
    config = files.load(Kubernetes, path)
    site = KubernetesSite(config, cluster, server_of_nodes(config.nodes, cluster, str(path)))
    hosts = len(plugin_of(cluster.fabric).hosts(cluster.fabric))
    if hosts not in (0, site.nodes_per_server):
        problem = f"{site.nodes_per_server} for each server, which has {hosts} hosts by the partitions of the cluster"
        raise InputError(str(path), "nodes", f"{problem}; name one node for each host")
    return site
