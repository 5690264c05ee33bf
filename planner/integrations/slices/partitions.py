"""Partitions inside cubes by GKE's labels of their nodes: which one a box of hosts is, and what two Slices share."""

from collections.abc import Collection, Iterable, Mapping

from planner.integrations.kubernetes.config import Object

LABEL = "cloud.google.com/gke-tpu-partition-{}-id"
Named = Mapping[str, Mapping[str, str]]
"""id of the partition of each shape, such as 2x2x1, that a node is in, by node"""


def named_by(nodes: Iterable[Object], wanted: Collection[str]) -> Named:
    """Partitions of these nodes, by their labels."""
    before, after = LABEL.split("{}")
    found: dict[str, dict[str, str]] = {}
    for item in nodes:
        labels, name = item["metadata"].get("labels") or {}, item["metadata"]["name"]
        if name in wanted:
            found[name] = {
                key.removeprefix(before).removesuffix(after): str(text)
                for key, text in labels.items()
                if key.startswith(before) and key.endswith(after)
            }
    return found


def partition_of(job: str, shape: str, hosts: Collection[str], named: Named) -> str:
    """Id of the partition of a shape that these nodes are; ValueError unless they are all of one."""
    ids = {named.get(host, {}).get(shape, "") for host in hosts}
    members = {node for node, labels in named.items() if labels.get(shape) in ids}
    if len(ids) > 1 or not all(ids) or members != {*hosts}:
        listed = ", ".join(sorted(hosts))
        raise ValueError(
            f"job {job}: nodes {listed} are no partition {shape} by their labels {LABEL.format(shape)}; name the nodes"
            " of each cube in the order of its hosts"
        )
    return ids.pop()


def footprint(ids: Collection[str], named: Named) -> frozenset[str]:
    """What Slices of these partitions take: nodes, and the ids themselves where no node has one."""
    nodes = {node for node, labels in named.items() if not {*labels.values()}.isdisjoint(ids)}
    return frozenset({*nodes, *ids})
