"""An independent look at every place before it is handed out: it shares no code with what found it.

A place is right beside all others where nobody else owns what it claims and nothing of that has failed
(`planner.fabrics.claims`), where as much is left of what jobs count as it takes, and where `planner.checks` has no
objection to it alone (`IsolatedValidator`). No part of that grows with the number of running jobs.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from costmodel.pricing.servers_by_rack import ServersByRack
from planner.fabrics import plugin_of
from planner.fabrics.claims import Claims, Holdings, lost
from planner.model.cluster import Cluster
from planner.model.edit import edited
from planner.model.health import Health
from planner.model.instance import Instance
from planner.model.job import Job, Resident
from planner.model.plan import Plan
from planner.placement.isolated_validator import IsolatedValidator
from planner.placement.placement import Place


class Validator:
    """Claims of running jobs, kept apart from the free state that finds places."""

    def __init__(self, cluster: Cluster) -> None:
        self._claims_of = plugin_of(cluster.fabric).claims
        self._holdings = Holdings()
        self._alone = IsolatedValidator(cluster)
        self.healed(cluster)

    def healed(self, cluster: Cluster) -> None:
        """Parts have failed, or work again."""
        self.cluster = cluster
        self._last: tuple[Place, Claims] | None = None
        """what was claimed last: a place that is looked at is mostly taken next"""
        self._capacity = self._claims_of.capacity(cluster)
        self._alone.healed(cluster)

    def take(self, job: Job, place: Place) -> None:
        """A job holds a place from now on."""
        self._holdings.take(job.name, self._claims(place))

    def release(self, name: str) -> None:
        """A job gives back what it holds."""
        self._holdings.release(name)

    def objection(self, job: Job, place: Place, leaving: Iterable[str] = ()) -> str | None:
        """The first rule that a place breaks beside all jobs but those that leave, in words; None for none."""
        gone = {job.name, *leaving}
        try:
            return (
                self._misplaced(place)
                or self._taken(place, gone)
                or _unasked(job, place)
                or self._alone_or_scarce(job, place, gone)
                or self._spared(job, place, gone)
            )
        except (KeyError, ValueError) as error:
            return f"no plan can state it: {error}"

    def _claims(self, place: Place) -> Claims:
        if self._last is None or self._last[0] is not place:
            self._last = place, self._claims_of.of_lying(self.cluster, place)
        return self._last[1]

    def _misplaced(self, place: Place) -> str | None:
        """Devices that are no place for a rank, whoever owns them."""
        fabric, devices = self.cluster.fabric, place.devices
        if len(set(devices)) < len(devices):
            return "an accelerator hosts two ranks"
        num_servers, num_slots = fabric.num_servers, fabric.devices_per_server
        for server, slot in devices:
            if not (0 <= server < num_servers and 0 <= slot < num_slots):
                return f"there is no accelerator {(server, slot)}"
        block = place.row.shape.block
        for rank, (server, _) in enumerate(devices):
            if server != devices[rank - rank % block][0]:
                return f"ranks from {rank - rank % block} on lie in several servers"
        return None if fabric.links_racks else _wrong_racks(place, [server // fabric.servers for server, _ in devices])

    def _taken(self, place: Place, gone: Collection[str]) -> str | None:
        """Parts that have failed, or that others own."""
        claims = self._claims(place)
        failed = lost(claims, self.cluster.failed_parts)
        if failed:
            return f"{failed[0]} has failed"
        taken = self._holdings.conflict(claims, gone)
        return None if taken is None else f"{self._claims_of.named(taken.part, taken.bits)} belongs to {taken.owner}"

    def _alone_or_scarce(self, job: Job, place: Place, gone: Collection[str]) -> str | None:
        """A rule that the place breaks by itself, or parts of which others leave too little."""
        wrong, reserved = self._alone.verdict(job, place)
        if wrong is not None:
            return wrong
        amounts = self._claims(place).counted
        if reserved:
            names = [self.cluster.fabric.server_name(server) for server in place.servers]
            held = {f"{names[server]}.{part}": amount for (server, part), amount in reserved.items()}
            amounts = {**amounts, **held}
        scarce = self._holdings.overdrawn(amounts, self._capacity, gone)
        return None if scarce is None else f"others leave too little of {scarce}"

    def _spared(self, job: Job, place: Place, gone: Collection[str]) -> str | None:
        """A single accelerator with a working port, though one without it is free on its server. One that the job has
        already may stay."""
        cluster, dark = self.cluster, self.cluster.dark_devices
        if len(place.devices) > 1 or not dark or place.devices[0] in dark:
            return None
        if job.name in self._holdings.owners(cluster.fabric.device_name(*place.devices[0])):
            return None
        server = place.devices[0][0]
        names = (cluster.fabric.device_name(*device) for device in dark if device[0] == server)
        if any(not self._holdings.owners(name).keys() - gone for name in names):
            return "it takes a working port although an accelerator without one is free on its server"
        return None


def restored_objection(cluster: Cluster, running: Iterable[tuple[Job, Place]]) -> str | None:
    """The first rule that places break which are held together, in words, on parts that may have failed since;
    None where nothing is."""
    validator = Validator(edited(cluster, health=Health()))
    for job, place in running:
        wrong = validator.objection(job, place)
        if wrong is not None:
            return f"{job.name}: {wrong}"
        validator.take(job, place)
    return None


def whole(
    cluster: Cluster, running: Iterable[tuple[Job, Place]], new: Iterable[tuple[Job, Place]] = ()
) -> tuple[Instance, Plan]:
    """Running jobs as residents that stay, and new ones, as an instance and its plan, for all checks."""
    running, new = list(running), list(new)
    residents = []
    for job, place in running:
        fields: dict[str, Any] = {name: getattr(job, name) for name in Job.model_fields}
        where: dict[str, Any] = {
            "devices": place.device_names,
            "configuration": place.configuration,
            "circuits": place.circuits,
            "memory": place.memory,
            "upper": place.upper,
        }
        residents.append(Resident(**fields, **where))
    jobs = tuple(Job(**{name: getattr(job, name) for name in Job.model_fields}) for job, _ in new)
    instance = Instance(schema_version=2, name="controller", cluster=cluster, jobs=jobs, residents=tuple(residents))
    assignments = tuple(place.assignment(job) for job, place in (*running, *new))
    switches = plugin_of(cluster.fabric).switch_setting(instance, assignments)
    return instance, Plan(instance="controller", assignments=assignments, switches=switches)


def _wrong_racks(place: Place, racks: Sequence[int]) -> str | None:
    """Ranks, of which `racks` has the rack, that do not lie in equal runs in as many racks as was chosen."""
    if racks.count(racks[0]) == len(racks) and not place.upper and place.row.shape.racks == 1:
        return None
    wanted = place.configuration.data_collective.racks
    if wanted == 1:
        return "its accelerators lie in several racks"
    size = len(racks) // wanted
    order = [racks[first] for first in range(0, len(racks), size)]
    if (
        len(order) != wanted
        or order != sorted({*order})
        or any(rack != racks[rank - rank % size] for rank, rack in enumerate(racks))
    ):
        return f"its ranks do not lie in {wanted} racks, as many in each and one rack after the other"
    return None


def _unasked(job: Job, place: Place) -> str | None:
    """Differences from the user's request: number of accelerators, of each server, and of servers."""
    number, asked = len(place.devices), job.constraints.per_server
    if number not in job.sizes or number != place.row.shape.num_ranks:
        return f"{number} accelerators are not what the job asks for"
    if job.constraints.one_server and len(place.servers) > 1:
        return f"its accelerators lie in {len(place.servers)} servers, not in one"
    if asked is None:
        return None
    given = Counter(server for server, _ in place.devices)
    uneven = (f"a server gives {count} accelerators, not {asked}" for count in given.values() if count != asked)
    return next(uneven, None) or _unasked_of_racks(job.constraints.servers_by_rack, place)


def _unasked_of_racks(asked: ServersByRack | None, place: Place) -> str | None:
    """Racks that give other numbers of servers than the user asks for."""
    size = place.row.options.fabric.servers
    numbers = sorted(Counter(server // size for server in {server for server, _ in place.devices}).values())
    if asked is None or (isinstance(asked, tuple) and numbers == sorted(asked)):
        return None
    if not isinstance(asked, tuple) and numbers[0] >= asked.min and numbers[-1] <= asked.max:
        return None
    return f"its racks give {', '.join(map(str, numbers))} servers, which is not what the job asks for"
