"""Hosts of cubes: their nodes, and the partitions that these are in by their labels."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from planner.integrations.kubernetes.config import KubernetesSite, load_site
from planner.integrations.slices.partitions import Named, named_by
from planner.model import files
from planner.model.cluster import Cluster
from planner.model.errors import InputError


class Hosts(NamedTuple):
    """Nodes of the hosts of cubes, and the partitions that they are in by their labels."""

    site: KubernetesSite
    named: Named

    @classmethod
    def load(cls, kubernetes: Path, nodes: Path, cluster: Cluster) -> "Hosts":
        """Of kubernetes.yaml, and of what `kubectl get nodes -o json` prints; InputError names file and field."""
        site = load_site(kubernetes, cluster)
        items = files.parse_text(files.read_text(nodes), str(nodes)).get("items")
        if not isinstance(items, list) or not all(_has_name(item) for item in items):
            raise InputError(str(nodes), "items", "is no list of nodes; give what `kubectl get nodes -o json` prints")
        return cls(site, named_by(items, site.server_of))


class SliceNames(NamedTuple):
    """What the Slices of a cluster are made of, as far as it is known."""

    cubes: Mapping[str, str] | None = None
    """partition of each cube; None: as the planner names it"""
    hosts: Hosts | None = None
    """None: no node is known, and jobs inside cubes have no Slices"""


def _has_name(item: object) -> bool:
    about = item.get("metadata") if isinstance(item, dict) else None
    return (
        isinstance(about, dict) and isinstance(about.get("name"), str) and isinstance(about.get("labels") or {}, dict)
    )
