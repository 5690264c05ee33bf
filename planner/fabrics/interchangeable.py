"""Parts that can stand for each other: where one of them fails, its loss stands for that of any other one."""

from collections.abc import Hashable, Iterable, Sequence

from planner.model.cluster import Cluster


class Interchangeable:
    """Where slots do not matter, the devices of a server that are in the same condition are alike."""

    def class_of(self, cluster: Cluster, kind: str, part: str) -> Hashable:
        """Key of a part, by its kind in the inventory and its name: parts of one key are alike."""
        if kind != "tile" or self.slots_matter(cluster):
            return part
        device = cluster.fabric.parse_device(part)
        return device[0], cluster.condition(device)

    def in_order(self, parts_of_jobs: Iterable[set[str]]) -> Sequence[str]:
        """Parts that jobs need, in the order in which their losses are tried: by name, whosever they are."""
        return sorted(set[str]().union(*parts_of_jobs))

    def slots_matter(self, cluster: Cluster) -> bool:
        """True if it matters which devices of a server a job has."""
        return cluster.fabric.places_whole_jobs
