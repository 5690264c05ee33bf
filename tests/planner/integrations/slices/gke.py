"""What GKE does with Slices: it makes them ready after a while, lets some fail, and takes its time to take them down.

A Slice on a partition that another has is refused for good, as its manual says; a finalizer keeps one that is deleted
until its cubes are apart.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.planner.integrations.kubernetes.emulator import SLICES, Emulator

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
            said = f"partitions are of {shared[0]}" if shared else ""
            self._say(item, *(("False", "FAILED", said) if shared or is_bad else ("True", "ACTIVE")))

    @staticmethod
    def _overlaps(one: dict[str, Any], item: dict[str, Any]) -> bool:
        shared = {*one["spec"]["partitionIds"]} & {*item["spec"]["partitionIds"]}
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
