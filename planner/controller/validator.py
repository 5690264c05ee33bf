"""An independent look at every place before it is handed out: it shares no code with what found it.

Kept by name of the job: who holds each accelerator, and each wavelength of each fiber. A new place is checked alone
against that, by the rules of RULES.md; what its circuits must be comes from `planner.checks`. What else jobs share
follows from the fabric (`what_jobs_share`). On fabrics whose jobs share nothing but accelerators a place is held
against failed parts and owners; where it has circuits of its own (optical rails, tori, SiPAC) it is checked by itself
by `planner.checks`, once for all places alike (`IsolatedValidator` says why that is enough). Where memory is pooled
`PoolValidator` does the same for units, ports and uplinks. Where slots of a server matter (shared waveguides, losses,
light over third servers) the whole plan is checked by `planner.checks`, which is slower.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from costmodel.fabrics import Lightpath, OcsRail, Sipam
from planner.checks import check
from planner.checks.required import Links, required_links
from planner.controller.pool_validator import PoolValidator
from planner.controller.sharing import what_jobs_share
from planner.fabrics.wiring import Wire
from planner.model.cluster import Cluster, Health
from planner.model.edit import edited
from planner.model.instance import Instance, Job, Resident
from planner.model.plan import Plan
from planner.model.ranked_assignment import setting_of
from planner.placement.isolated_validator import IsolatedValidator
from planner.placement.placement import Place


class Validator:
    """Occupied accelerators and light, kept apart from the board that finds places."""

    def __init__(self, cluster: Cluster) -> None:
        fabric = cluster.fabric
        self.cluster = cluster
        self._owner: dict[tuple[int, int], str] = {}
        self._light: dict[tuple[int, int, int], dict[str, int]] = {}
        self._places: dict[str, tuple[Job, Place]] = {}
        self._sound: dict[tuple[int, str], str | None] = {}
        self._required: dict[int, list[tuple[str, Links]] | None] = {}
        self._joined: set[tuple[tuple[int, ...], str]] = set()
        self._shared = what_jobs_share(fabric)
        self._alone = IsolatedValidator(cluster) if self._shared == "nothing, with circuits" else None
        self._pool = PoolValidator(cluster) if isinstance(fabric, Sipam) else None
        self.is_quick = self._shared != "whole plan"

    def healed(self, cluster: Cluster) -> None:
        """Parts have failed, or work again."""
        self.cluster = cluster
        if self._pool is not None:
            self._pool.healed(cluster)

    def take(self, job: Job, place: Place) -> None:
        """A job holds a place from now on."""
        self._places[job.name] = job, place
        for device in place.devices:
            self._owner[device] = job.name
        for fiber, mask in _fibers(place):
            self._light.setdefault(fiber, {})[job.name] = mask
        if self._pool is not None:
            self._pool.take(job.name, place)

    def release(self, name: str) -> None:
        """A job gives back what it holds."""
        _, place = self._places.pop(name)
        for device in place.devices:
            if self._owner.get(device) == name:
                del self._owner[device]
        for fiber, _ in _fibers(place):
            self._light.get(fiber, {}).pop(name, None)
        if self._pool is not None:
            self._pool.release(name, place)

    def objection(self, job: Job, place: Place, leaving: Iterable[str] = ()) -> str | None:
        """What is wrong with a place beside all others but those of jobs that leave; None where nothing is."""
        gone = {job.name, *leaving}
        wrong = (
            self._devices(place, gone) or _unasked(job, place) or self._form(place) or self._fiber_light(place, gone)
        )
        if wrong is None and self._shared.startswith("nothing"):
            wrong = self._spared(place, gone)
        if wrong is None and self._alone is not None:
            wrong = self._switches(place) or self._alone.objection(job, place)
        if wrong is None and self._pool is not None:
            left = ((name, self._places[name][1]) for name in gone if name in self._places)
            wrong = self._pool.objection(job, place, left)
        if wrong is None and not self.is_quick:
            wrong = self._by_all_checks(job, place, gone)
        return wrong

    def clash(self, place: Place) -> str | None:
        """An accelerator of the place that is no place for a rank, or another's."""
        return self._devices(place, set())

    def _devices(self, place: Place, gone: set[str]) -> str | None:
        cluster, devices = self.cluster, place.devices
        if len(set(devices)) < len(devices):
            return "an accelerator hosts two ranks"
        fabric, failed, dark = cluster.fabric, cluster.failed_devices, cluster.dark_devices
        for device in devices:
            if not (0 <= device[0] < fabric.num_servers and 0 <= device[1] < fabric.devices_per_server):
                return f"there is no accelerator {device}"
            if device in failed or (device in dark and (len(devices) > 1 or fabric.has_remote_memory)):
                return f"{fabric.device_name(*device)} has failed"
            owner = self._owner.get(device)
            if owner is not None and owner not in gone:
                return f"{fabric.device_name(*device)} belongs to {owner}"
        block = place.row.shape.block
        for first in range(0, len(devices), block):
            if len({server for server, _ in devices[first : first + block]}) > 1:
                return f"ranks from {first} on lie in several servers"
        if not fabric.links_racks and len({server // fabric.servers for server, _ in devices}) > 1:
            return "its accelerators lie in several racks"
        return None

    def _spared(self, place: Place, gone: set[str]) -> str | None:
        """A single accelerator with a working port, though one without it is free on its server."""
        dark = self.cluster.dark_devices
        if len(place.devices) > 1 or not dark or place.devices[0] in dark:
            return None
        server = place.devices[0][0]
        spare = [each for each in dark if each[0] == server and self._owner.get(each, next(iter(gone))) in gone]
        return "it takes a working port although a device without one is free on its server" if spare else None

    def _switches(self, place: Place) -> str | None:
        """Optical switches through which its circuits go, and which carry no light."""
        failed, names = self.cluster.failed_switches, self.cluster.health.failed_switches
        if not failed:
            return None
        for _, wires in place.wiring.configurations:
            for source, _, mask, route in wires:
                rail = place.devices[source][1]
                is_dead = isinstance(self.cluster.fabric, OcsRail) and any(
                    axis == rail and mask >> number & 1 for axis, number in failed
                )
                if is_dead or any(step in names for step in route):
                    return f"the circuit from rank {source} goes through a switch that has failed"
        return None

    def _form(self, place: Place) -> str | None:
        """Whether the circuits are those of the configuration, each rank within its limits: once for all alike."""
        if not isinstance(self.cluster.fabric, Lightpath):
            return None
        key = id(place.row), place.wiring.name
        if key not in self._sound:
            if id(place.row) not in self._required:
                self._required[id(place.row)] = required_links(place.configuration)
            self._sound[key] = _wrong_form(self.cluster.fabric, place, self._required[id(place.row)])
        wrong = self._sound[key]
        return wrong or self._ends(place)

    def _ends(self, place: Place) -> str | None:
        """Routes lead from rank to rank; lasers and receivers work."""
        number = {server: i for i, server in enumerate(dict.fromkeys(s for s, _ in place.devices))}
        lasers, receivers = self.cluster.failed_lasers, self.cluster.failed_receivers
        is_worn, key = bool(lasers or receivers), tuple(number[s] for s, _ in place.devices)
        if not is_worn and (key, place.wiring.name) in self._joined:
            return None
        for _, wires in place.wiring.configurations:
            for source, destination, mask, route in wires:
                a, b = key[source], key[destination]
                if (a == b and route) or (a != b and [step[:2] for step in route] != [(a, b)]):
                    return f"the circuit from rank {source} to {destination} does not join them"
                sender, receiver = place.devices[source], place.devices[destination]
                if is_worn and mask & (lasers.get(sender, 0) | receivers.get(receiver, 0)):
                    return f"a laser or receiver between ranks {source} and {destination} has failed"
        if not is_worn:
            self._joined.add((key, place.wiring.name))
        return None

    def _fiber_light(self, place: Place, gone: set[str]) -> str | None:
        fabric = self.cluster.fabric
        if not isinstance(fabric, Lightpath):
            return None
        failed = self.cluster.failed_fibers
        for fiber, mask in _fibers(place):
            if not 0 <= fiber[2] < fabric.num_fibers(fiber[0], fiber[1]) or fiber in failed:
                return f"fiber {fabric.fiber_name(*fiber)} carries no light"
            for name, other in self._light.get(fiber, {}).items():
                if mask & other and name not in gone:
                    return f"{name} holds the same wavelengths of {fabric.fiber_name(*fiber)}"
        return None

    def _by_all_checks(self, job: Job, place: Place, gone: set[str]) -> str | None:
        beside = [held for name, held in self._places.items() if name not in gone]
        violations = check(*whole(self.cluster, beside, [(job, place)]), starts=True)
        return violations[0].message if violations else None


def restored_objection(cluster: Cluster, running: Iterable[tuple[Job, Place]]) -> str | None:
    """What is wrong with one of the places that are held, all of them together, on parts that may have failed since;
    None where nothing is."""
    held, sound = list(running), edited(cluster, health=Health())
    guard = Validator(sound)
    for job, place in held:
        wrong = guard.objection(job, place) if guard.is_quick else guard.clash(place)
        if wrong is not None:
            return f"{job.name}: {wrong}"
        guard.take(job, place)
    violations = check(*whole(sound, held)) if held and not guard.is_quick else []
    return violations[0].message if violations else None


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
        }
        residents.append(Resident(**fields, **where))
    jobs = tuple(Job(**{name: getattr(job, name) for name in Job.model_fields}) for job, _ in new)
    instance = Instance(schema_version=1, name="controller", cluster=cluster, jobs=jobs, residents=tuple(residents))
    assignments = tuple(place.assignment(job) for job, place in (*running, *new))
    return instance, Plan(instance="controller", assignments=assignments, switches=setting_of(instance, assignments))


def _unasked(job: Job, place: Place) -> str | None:
    """What is other than the user asked: how many accelerators, how many of each server, how many servers."""
    number, asked = len(place.devices), job.constraints.per_server
    if number not in job.sizes or number != place.row.shape.num_ranks:
        return f"{number} accelerators are not what the job asks for"
    given = Counter(server for server, _ in place.devices)
    if job.constraints.one_server and len(given) > 1:
        return f"its accelerators lie in {len(given)} servers, not in one"
    uneven = (count for count in given.values() if asked not in (None, count))
    return next((f"a server gives {count} accelerators, not {asked}" for count in uneven), None)


def _fibers(place: Place) -> list[tuple[tuple[int, int, int], int]]:
    """Wavelengths on each fiber, over all configurations."""
    servers = list(dict.fromkeys(server for server, _ in place.devices))
    return [((servers[a], servers[b], index), mask) for (a, b, index), mask in place.wiring.beams]


def _wrong_form(fabric: Lightpath, place: Place, required: list[tuple[str, Links]] | None) -> str | None:
    if required is None or len(required) != len(place.wiring.configurations):
        return "its circuits are not those of its configuration"
    for (dimension, links), (given, wires) in zip(required, place.wiring.configurations, strict=True):
        found = {(wire.source, wire.destination): wire.mask.bit_count() for wire in wires}
        if dimension != given or links != found or len(found) != len(wires):
            return f"its circuits along {given} are not those of its configuration"
        wrong = _wrong_light(fabric, given, wires)
        if wrong is not None:
            return wrong
    return None


def _wrong_light(fabric: Lightpath, given: str, wires: Iterable[Wire]) -> str | None:
    """Limits of ranks and fibers within one configuration."""
    sides: tuple[dict[int, int], dict[int, int]] = ({}, {})
    peers: Counter[tuple[int, int]] = Counter()
    used: dict[object, int] = {}
    for source, destination, mask, route in wires:
        limit = min(fabric.wavelengths_per_tile, fabric.wavelengths_per_fiber) if route else fabric.wavelengths_per_tile
        if mask >> limit:
            return f"a wavelength along {given} does not exist"
        for side, rank in enumerate((source, destination)):
            if sides[side].get(rank, 0) & mask:
                return f"rank {rank} uses a wavelength twice along {given}"
            sides[side][rank] = sides[side].get(rank, 0) | mask
            peers[side, rank] += 1
        for step in route:
            if used.get(step, 0) & mask:
                return f"two circuits along {given} share a wavelength of a fiber"
            used[step] = used.get(step, 0) | mask
    if max(peers.values(), default=0) > fabric.max_peers:
        return f"a rank has more than {fabric.max_peers} peers along {given}"
    return None
