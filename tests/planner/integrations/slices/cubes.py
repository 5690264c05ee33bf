"""A rack of 4 x 4 x 4 cubes, its partitions, and circuits of jobs on them as a controller gives them."""

from functools import cache
from pathlib import Path
from typing import Any

from planner.controller import Controller, Request, Settings
from planner.controller.switch_driver import Circuits
from planner.integrations.kubernetes.config import Kubernetes, KubernetesSite, SliceSettings
from planner.integrations.kubernetes.manifests import Deployment, manifests
from planner.integrations.slices.config import SliceSite
from planner.model.cluster import Cluster
from tests.planner.integrations.kubernetes.guards import Guards
from tests.planner.simulate.grounds import BERT

FABRIC = {
    "kind": "torus", "servers": 4, "sides": [4, 4, 4], "link_bandwidth": "50 GB/s", "alpha": "1 us",
    "link_energy": "10 pJ/b", "switches": {"ports": 136, "energy": "20 pJ/b", "reconfiguration": "20 ms"},
}  # fmt: skip
CLUSTER = {"device": "tpu-v7", "fabric": FABRIC}
PARTITIONS = {f"s{number}": f"cube{number:x}" for number in range(4)}
RULES = {"greedy_budget_s": 60, "repair_budget_s": 0, "snapshot_every": 20}


def cluster() -> Cluster:
    return Cluster.model_validate(CLUSTER)


def site(ready: str = "5 s") -> SliceSite:
    settings = SliceSettings.model_validate({"partitions": PARTITIONS, "ready": ready})
    return SliceSite(settings, cluster(), "tpu7x", None)


PARTS = ((2, 2, 1), (2, 2, 2), (2, 2, 4), (2, 4, 4))
HOSTS = 16
"""of a cube"""


def divided() -> Cluster:
    """The same cubes, inside which jobs take partitions."""
    return Cluster.model_validate(CLUSTER | {"fabric": FABRIC | {"partitions": PARTS}})


def divided_site(ready: str = "5 s") -> SliceSite:
    settings = SliceSettings.model_validate({"partitions": PARTITIONS, "ready": ready})
    nodes = {f"n{number}": f"s{number // HOSTS}" for number in range(4 * HOSTS)}
    hosts = KubernetesSite(Kubernetes.model_validate({"nodes": nodes}), divided(), nodes)
    return SliceSite(settings, divided(), "tpu7x", None, hosts)


def host_of(server: int, slot: int) -> str:
    """Node of a chip: hosts of 2 x 2 x 1 chips are numbered along z, then y, then x."""
    x, y, z = slot // 16, slot // 4 % 4, slot % 4
    return f"n{HOSTS * server + 8 * (x // 2) + 4 * (y // 2) + z}"


def labels_of(server: int, host: int) -> dict[str, str]:
    """Partitions of a host by the labels of its node."""
    key, cube = "cloud.google.com/gke-tpu-partition-{}-id", PARTITIONS[f"s{server}"]
    sizes = {"2x2x1": 1, "2x2x2": 2, "2x2x4": 4, "2x4x4": 8}
    named = {key.format(shape): f"{cube}-{shape}-{host // size}" for shape, size in sizes.items()}
    return {**named, key.format("4x4x4"): cube, "kubernetes.io/hostname": f"n{HOSTS * server + host}.local"}


def nodes() -> list[dict[str, Any]]:
    """All nodes of the cubes, with their labels."""
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    places = [(server, host) for server in range(4) for host in range(HOSTS)]
    about = [{"name": f"n{HOSTS * server + host}", "labels": labels_of(server, host)} for server, host in places]
    return [{"metadata": each, "spec": {}, "status": ready} for each in about]


def request(name: str, chips: int, **more: Any) -> Request:
    workload = BERT | {"global_batch": 1024}
    return Request.model_validate({"name": name, "accelerators": chips, "workload": workload} | more)


@cache
def circuits_of(*sizes: int) -> dict[str, Circuits]:
    """Circuits of jobs j0, j1, ... of so many chips, side by side."""
    with Controller(cluster(), Path(":memory:"), Settings.model_validate(RULES)) as controller:
        for number, size in enumerate(sizes):
            controller.submit(request(f"j{number}", size))
        return {name: place.circuits_json for name, place in controller.running.items()}


def guards() -> Guards:
    """What the manifests for such a rack let the planner do."""
    config = Kubernetes.model_validate({"nodes": "n[0-3]", "slices": {}})
    return Guards(manifests(config, {}, Deployment("photonplan", "image")))
