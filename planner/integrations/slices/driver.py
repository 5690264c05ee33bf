"""Driver of cubes whose circuits GKE sets: each box of whole cubes of a job is a Slice, which is made, waited for until
it is ready, and deleted.

What is on is read from the API each time. A Slice is made only when no other has one of its partitions, one that is
being deleted included: each call holds its cubes, so that two jobs of this planner are never made side by side on one.
"""

import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from planner.controller.switch_driver import (
    NO_CIRCUITS,
    CircuitBusyError,
    CircuitError,
    Circuits,
    OnJob,
    Resynced,
    UnsureError,
)
from planner.integrations.kubernetes.client import ApiError, KubernetesClient, path_of
from planner.integrations.private_files import make_private
from planner.integrations.slices.boxes import cube_of, joints_of
from planner.integrations.slices.config import SliceSite
from planner.integrations.slices.objects import OWNER, SliceObject, names_of
from planner.integrations.slices.partitions import Named, footprint, named_by
from planner.integrations.slices.resource import API_VERSION, resource
from planner.integrations.switch_drivers.recorded import RecordedDriver, unfenced

LOOK_AGAIN_S = 1.0
SLICES, NODES = path_of(API_VERSION, "slices"), path_of("v1", "nodes")
REFUSED, EXISTS = (400, 403, 422), 409
"""answers: an object that the API does not take; one of this name is there"""
Wanted = dict[str, dict[str, Any]]
"""`spec` of each Slice by name"""


class SliceDriver(RecordedDriver):
    """Makes the Slices of a job, all or none."""

    def __init__(
        self,
        folder: Path,
        site: SliceSite,
        api: KubernetesClient,
        fence: Callable[[], int] = unfenced,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(folder, fence)
        self._site, self._api, self._clock, self._sleep = site, api, clock, sleep

    def locks(self, circuits: Circuits) -> Collection[str]:
        """Cubes."""
        joined = {cube_of(end) for each in joints_of(circuits) for end in (each.source, each.destination)}
        return joined | {cube_of(device) for each in circuits for device in each.get("devices", ())}

    def connect(self, job: str, circuits: Circuits) -> None:
        """As of every driver; what the record says is on is looked at too."""
        is_on = circuits != [] and self._read().on.get(job) == circuits
        is_lost = is_on and self._is_lost(self._wanted(job, circuits, self._named()), self._listed())
        if is_lost and self._set_again(job, circuits):
            return
        super().connect(job, circuits)

    def more(self, circuits: Circuits, before: Circuits) -> Circuits:
        """All of them: a Slice is made as a whole."""
        return circuits

    def set(self, job: str, circuits: Circuits, lock: int) -> None:
        named = self._named()
        wanted = self._wanted(job, circuits, named)
        if not wanted:
            return
        until_s = self._clock() + self._site.settings.ready_s
        while not self._is_made(job, wanted, named):
            if self._clock() >= until_s:
                there = [each.said for each in self._listed() if each.name in wanted and not each.is_ready]
                raise UnsureError("; ".join(there) or "its Slices are not ready yet")
            self._sleep(LOOK_AGAIN_S)

    def release(self, job: str, but: Circuits = NO_CIRCUITS) -> None:
        """All of them."""
        super().release(job)

    def unset(self, job: str, circuits: Circuits, lock: int) -> None:
        until_s = self._clock() + self._site.settings.ready_s
        while left := [each for each in self._listed() if each.is_of(job)]:
            self._delete(left)
            if self._clock() >= until_s:
                raise CircuitError("; ".join(each.said for each in left))
            self._sleep(LOOK_AGAIN_S)

    def resync(self, begins: OnJob = lambda job: None) -> Resynced:
        """Slices that were deleted, changed or have failed are made again; those that a planner made for a job that
        has none are deleted."""
        make_private(self.folder)
        before = self._read()
        listed, named, again, failed = self._listed(), self._named(), list[str](), dict[str, str]()
        for job, circuits in before.on.items():
            try:
                if self._is_lost(self._wanted(job, circuits, named), listed):
                    begins(job)
                    again += [job] if self._set_again(job, circuits) else []
            except CircuitError as error:
                failed[job] = str(error)
        known = {*before.all, *self._read().all}
        self._delete([each for each in listed if each.owner and each.owner not in known])
        return Resynced(tuple(again), failed, tuple(self._strange(listed, named)))

    def _strange(self, listed: list[SliceObject], named: Named) -> list[str]:
        """Slices that no planner made, on cubes of this cluster."""
        ours = {*self._site.partition_of.values(), *named}
        others = [each for each in listed if not each.owner]
        return sorted(f"Slice {each.name}" for each in others if ours & footprint(each.partitions, named))

    def _wanted(self, job: str, circuits: Circuits, named: Named) -> Wanted:
        try:
            specs = self._site.specs(job, circuits, named)
        except ValueError as error:
            raise CircuitError(str(error)) from None
        return dict(zip(names_of(job, len(specs)), specs, strict=True))

    @staticmethod
    def _is_lost(wanted: Wanted, listed: list[SliceObject]) -> bool:
        """True unless all Slices of a job are there as they should be, and ready."""
        there = {each.name: each for each in listed if each.is_ready}
        return any(name not in there or not there[name].has_spec(spec) for name, spec in wanted.items())

    def _is_made(self, job: str, wanted: Wanted, named: Named) -> bool:
        """One look at what is there and one step towards what should be; True where nothing is left to do.

        CircuitError, after what is there was deleted, where it has failed or another has one of its partitions."""
        listed = self._listed()
        mine = [each for each in listed if each.is_of(job)]
        wrong = [each for each in mine if each.name not in wanted or not each.has_spec(wanted[each.name])]
        if not wrong and not self._is_lost(wanted, mine):
            return True
        taken = footprint({one for spec in wanted.values() for one in spec["partitionIds"]}, named)
        if failed := [each for each in mine if each.has_failed]:
            self._delete(mine)
            raise self._refused(CircuitError("; ".join(each.said for each in failed)), job)
        for other in listed:
            if not other.is_of(job) and (shared := footprint(other.partitions, named) & taken):
                self._delete(mine)
                where = f"{'node' if min(shared) in named else 'partition'} {min(shared)}"
                raise self._refused(CircuitBusyError(f"{where} is of Slice {other.name}"), job)
        if wrong or any(each.is_leaving for each in mine):
            self._delete(wrong)
        else:
            self._create(job, wanted, {each.name for each in mine})
        return False

    def _refused(self, error: CircuitError, job: str) -> CircuitError:
        """As it is, or UnsureError while something of a job is still there."""
        return UnsureError(str(error)) if any(each.is_of(job) for each in self._listed()) else error

    def _create(self, job: str, wanted: Wanted, there: Collection[str]) -> None:
        for name, spec in wanted.items():
            if name in there:
                continue
            self.fence()
            try:
                self._api.post(SLICES, resource(name, spec, {OWNER: job}))
            except ApiError as error:
                if error.status in REFUSED:
                    raise self._refused(CircuitError(str(error)), job) from None
                if error.status != EXISTS:
                    raise UnsureError(str(error)) from None

    def _delete(self, found: list[SliceObject]) -> None:
        for each in found:
            if each.is_leaving:
                continue
            self.fence()
            try:
                self._api.delete(path_of(API_VERSION, "slices", name=each.name), each.uid)
            except ApiError as error:
                raise UnsureError(str(error)) from None

    def _named(self) -> Named:
        """Partitions of the nodes of divided cubes as of now; UnsureError where the API cannot be asked."""
        hosts = self._site.hosts
        if hosts is None:
            return {}
        try:
            found, _ = self._api.list(NODES, lambda item: item["metadata"]["name"] in hosts.server_of)
        except ApiError as error:
            raise UnsureError(str(error)) from None
        return named_by(found, hosts.server_of)

    def _listed(self) -> list[SliceObject]:
        """All Slices of the cluster as of now; UnsureError where the API cannot be asked."""
        self.fence()
        try:
            return [SliceObject(item) for item in self._api.list(SLICES)[0]]
        except ApiError as error:
            raise UnsureError(str(error)) from None
