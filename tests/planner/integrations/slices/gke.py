"""What GKE does with Slices: it makes them ready after a while, lets some fail, and takes its time to take them down.

A Slice on a partition that another has, or on nodes that are in one, is refused for good, as its manual says, and so is
one of partitions that no node has the label of, where nodes have any; a finalizer keeps one that is deleted until its
cubes are apart.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.planner.integrations.kubernetes.emulator import Emulator
from tests.planner.integrations.kubernetes.objects import NODES, SLICES
from tests.planner.integrations.kubernetes.published import SUB_SLICES

PARTITION = "cloud.google.com/gke-tpu-partition-{}-id"
FINALIZER = "accelerator.gke.io/slice-finalizer"
NOW = "2027-01-15T08:00:00Z"


def condition(status: str, reason: str, generation: int, message: str = "") -> dict[str, Any]:
    about = {"type": "Ready", "status": status, "reason": reason, "message": message}
    return about | {"lastTransitionTime": NOW, "observedGeneration": generation}


@dataclass
class SliceController:
    """One step for each Slice at a time."""

    emulator: Emulator
    random: Random = field(default_factory=lambda: Random(0))
    patience: float = 1.0
    """chance that a Slice goes on to its next state in a step"""
    faults: float = 0.0
    """chance that one fails when it would become ready"""
    broken: set[str] = field(default_factory=set)
    """partitions with which none becomes ready"""

    def step(self) -> None:
        for item in self.emulator.all(SLICES):
            if self.random.random() < self.patience:
                self._on(item)

    def _on(self, item: dict[str, Any]) -> None:
        about, name = item["metadata"], item["metadata"]["name"]
        state = self.state(item)
        if about.get("deletionTimestamp"):
            if state == "DEACTIVATING":
                self.emulator.change(SLICES, None, name, metadata={"finalizers": None})
            else:
                self._say(item, "False", "DEACTIVATING")
        elif not about.get("finalizers"):
            self.emulator.change(SLICES, None, name, metadata={"finalizers": [FINALIZER]})
        elif state in ("", "STALE"):
            self._say(item, "False", "ACTIVATING")
        elif state == "ACTIVATING":
            shared = [one["metadata"]["name"] for one in self.emulator.all(SLICES) if self._overlaps(one, item)]
            is_bad = bool(self.broken & {*item["spec"]["partitionIds"]}) or self.random.random() < self.faults
            is_bad = is_bad or self._is_unknown(item)
            said = f"partitions are of {shared[0]}" if shared else ""
            self._say(item, *(("False", "FAILED", said) if shared or is_bad else ("True", "ACTIVE")))

    def nodes(self, item: dict[str, Any]) -> set[str]:
        """Nodes of the partitions of a Slice: the partitions themselves where nodes have no labels."""
        ids = {*item["spec"]["partitionIds"]}
        found = {
            node["metadata"]["name"]
            for node in self.emulator.all(NODES)
            if ids & {*(node["metadata"].get("labels") or {}).values()}
        }
        return found or ids

    def _is_unknown(self, item: dict[str, Any]) -> bool:
        """True unless each partition is one of this shape: of a cube where the Slice is of whole cubes."""
        topology = item["spec"]["topology"]
        label = PARTITION.format(topology if topology in SUB_SLICES else "4x4x4")
        labels = [node["metadata"].get("labels") or {} for node in self.emulator.all(NODES)]
        known = {one[label] for one in labels if label in one}
        return bool(known) and not {*item["spec"]["partitionIds"]} <= known

    def _overlaps(self, one: dict[str, Any], item: dict[str, Any]) -> bool:
        shared = self.nodes(one) & self.nodes(item)
        return bool(shared) and one["metadata"]["name"] != item["metadata"]["name"]

    @staticmethod
    def state(item: dict[str, Any]) -> str:
        """Reason of the condition Ready; STALE where it was told of an earlier spec."""
        for one in (item.get("status") or {}).get("conditions") or ():
            is_stale = one["observedGeneration"] < item["metadata"]["generation"]
            return "STALE" if is_stale else str(one["reason"])
        return ""

    def _say(self, item: dict[str, Any], status: str, reason: str, message: str = "") -> None:
        told = condition(status, reason, item["metadata"]["generation"], message)
        self.emulator.change(SLICES, None, item["metadata"]["name"], status={"conditions": [told]})
