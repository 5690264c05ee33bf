"""The section `slices` of kubernetes.yaml: the cluster of cubes, and what GKE calls each of them."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from planner.controller.switch_driver import Circuits
from planner.fabrics import plugin_of
from planner.integrations.kubernetes.config import Kubernetes, KubernetesSite, SliceSettings, load_site
from planner.integrations.slices.boxes import SIDE, boxes, cube_of, has_whole_cubes, joints_of
from planner.integrations.slices.partitions import Named, partition_of
from planner.integrations.slices.resource import spec_body, type_of
from planner.model import files
from planner.model.cluster import Cluster, load_cluster
from planner.model.errors import InputError


@dataclass(frozen=True)
class SliceSite:
    """A cluster of cubes with the partition of each."""

    settings: SliceSettings
    cluster: Cluster
    kind: str
    """type of its Slices"""
    kubeconfig: Path | None
    """None: the account of the pod that runs the planner"""
    hosts: KubernetesSite | None = None
    """nodes of the hosts of cubes that are divided into partitions; None where they are not"""

    @cached_property
    def partition_of(self) -> dict[str, str]:
        """By cube."""
        return self.settings.partitions or {name: name for name in self.cluster.fabric.server_names}

    def specs(self, job: str, circuits: Circuits, named: Named) -> list[dict[str, Any]]:
        """`spec` of each Slice that the circuits of a job ask for: one of each box of whole cubes, or of each partition
        of a cube, else none; ValueError where they make no boxes."""
        if divided := [each for each in circuits if "partition" in each]:
            return [self._inside(job, each["partition"], each["devices"], named) for each in divided]
        joints = joints_of(circuits)
        if not has_whole_cubes(joints):
            return []
        cubes = sorted({cube_of(each.source) for each in joints}, key=self.cluster.fabric.parse_server)
        found = boxes(job, joints, cubes)
        return [
            spec_body(job, self.kind, box.extents, [self.partition_of[cube] for cube in box.cubes]) for box in found
        ]

    def _inside(self, job: str, shape: str, devices: list[str], named: Named) -> dict[str, Any]:
        """`spec` of the Slice of one partition of a cube."""
        if self.hosts is None:
            raise ValueError(f"job {job}: no node is known by its host; name the nodes of each cube")
        parsed = map(self.cluster.fabric.parse_device, devices)
        hosts = {self.hosts.on_node(*device)[0] for device in parsed}
        return spec_body(job, self.kind, shape.split("x"), [partition_of(job, shape, hosts, named)])


def load_slices(path: Path) -> SliceSite:
    """Read kubernetes.yaml and the cluster that its section `slices` names; InputError names file and field."""
    config = files.load(Kubernetes, path)
    if config.slices is None:
        raise InputError(str(path), "slices", "is missing; add the section, or take another driver")
    where = path.parent / config.slices.cluster
    cluster = load_cluster(where)
    kubeconfig = None if config.kubeconfig is None else path.parent / config.kubeconfig
    hosts = load_site(path, cluster) if plugin_of(cluster.fabric).hosts(cluster.fabric) else None
    site = SliceSite(config.slices, cluster, _kind(cluster, where), kubeconfig, hosts)
    _require_partitions(site, path)
    return site


def _kind(cluster: Cluster, where: Path) -> str:
    """Type of Slices; InputError for a cluster that is not of 4 x 4 x 4 cubes with switches."""
    try:
        kind = type_of(cluster.device)
    except ValueError as error:
        raise InputError(str(where), "device", str(error)) from None
    if cluster.fabric.devices_per_server != SIDE**3 or not cluster.fabric.has_circuits:
        raise InputError(str(where), "fabric", "is no torus of 4 x 4 x 4 cubes with switches; only these have Slices")
    return kind


def _require_partitions(site: SliceSite, path: Path) -> None:
    given, cubes = site.settings.partitions, site.cluster.fabric.server_names
    if given is None:
        return
    for cube in given:
        if cube not in cubes:
            raise InputError(str(path), f"slices.partitions.{cube}", f"is no cube; cubes are {cubes[0]} to {cubes[-1]}")
    for cube in cubes:
        if cube not in given:
            raise InputError(str(path), "slices.partitions", f"{cube} has none; name the partition of each cube")
    if len({*given.values()}) < len(given):
        raise InputError(str(path), "slices.partitions", "two cubes have one partition; give each its own")
