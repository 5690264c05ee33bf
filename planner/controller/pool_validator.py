"""An independent look at places in racks with pooled memory: who owns each part, and the place by itself.

Jobs of a pool share units, ports of trays and uplinks, each by name, and on spine rails the number of uplinks that are
reserved. So a place is right beside others where no part has another owner, its reserve fits beside what others use,
and `planner.checks` has no objection to it alone, with what has failed. That is remembered: no rule changes where units
or ports of a tray, uplinks of a rail or, where no part of a pool has failed, servers change their numbers.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from costmodel.fabrics import Sipam
from planner.checks import CHECKS
from planner.fabrics.sipam.rule_network import uplinks_reserved
from planner.fabrics.sipam.rule_parts import PoolParts, Uplink
from planner.model.cluster import Cluster
from planner.model.instance import Instance, Job
from planner.model.plan import Plan
from planner.model.ranked_assignment import setting_of
from planner.placement.isolated_validator import ASKED, OF_LAYOUT
from planner.placement.placement import Place

OF_POOL = (*OF_LAYOUT, "phases", "memory_pool", "pool_network")
"""rules that depend on where a job lies, and on its parts"""
LIGHT = "pool_light"
"""the rule of switches, whose states follow from circuits that the others have found right"""
Reserve: TypeAlias = dict[tuple[int, int], int]
"""uplinks by server, counted among those of the job, and rail"""
Verdict: TypeAlias = tuple[str | None, Reserve]
"""what is wrong with a place by itself, and what it reserves"""
MOST_REMEMBERED = 10_000
"""verdicts; each takes about 10 kB"""


class PoolValidator:
    """Units, ports and uplinks by the job that holds them."""

    def __init__(self, cluster: Cluster) -> None:
        self._owner: dict[str, str] = {}
        self._used: Counter[tuple[int, int]] = Counter()
        """uplinks that running jobs use, by server and rail"""
        self._rows: dict[int, object] = {}
        """by identity, which lasts as long as the row is kept"""
        self._right: set[tuple[str, int]] = set()
        """jobs and configurations that keep the rules which depend on nothing else"""
        self.healed(cluster)

    def healed(self, cluster: Cluster) -> None:
        """Parts have failed, or work again."""
        assert isinstance(cluster.fabric, Sipam)
        self._cluster, self._parts = cluster, PoolParts(cluster, cluster.fabric)
        self._known: dict[object, Verdict] = {}
        self._asked: dict[str, Instance] = {}

    def take(self, job: str, place: Place) -> None:
        """A job holds a place from now on."""
        for name in set(_names(place)):
            self._owner[name] = job
        self._count(place, 1)

    def release(self, job: str, place: Place) -> None:
        """A job gives back what it holds."""
        for name in set(_names(place)):
            if self._owner.get(name) == job:
                del self._owner[name]
        self._count(place, -1)

    def _count(self, place: Place, sign: int) -> None:
        for server, rail, _ in self._uplinks(place):
            self._used[server, rail] += sign

    def _uplinks(self, place: Place) -> list[Uplink]:
        names = {name for held in place.circuits for circuit in held.circuits for name in circuit.fibers}
        return [uplink for name in sorted(names) if (uplink := self._parts.uplink(name)) is not None]

    def objection(self, job: Job, place: Place, leaving: Iterable[tuple[str, Place]]) -> str | None:
        """What is wrong with a place beside all others but those that leave, each with its place."""
        left = dict(leaving)
        for name in _names(place):
            owner = self._owner.get(name)
            if owner is not None and owner not in left:
                return f"{name} belongs to {owner}"
        key = self._key(job, place)
        if key not in self._known:
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            self._known[key] = self._alone(key[0], job, place)
        wrong, reserve = self._known[key]
        return wrong or self._crowded(place, reserve, left)

    def _crowded(self, place: Place, reserve: Reserve, left: dict[str, Place]) -> str | None:
        """Whether others use too many uplinks beside those that the place reserves."""
        gone = Counter[tuple[int, int]]()
        for other in left.values() if reserve else ():
            gone.update((server, rail) for server, rail, _ in self._uplinks(other))
        for (number, rail), count in reserve.items():
            server = place.servers[number]
            others = self._used[server, rail] - gone[server, rail]
            if others + count > self._parts.num_uplinks(server, rail):
                return f"{self._parts.server_switch(server, rail)} has no {count} uplinks left to reserve"
        return None

    def _key(self, job: Job, place: Place) -> tuple[Any, ...]:
        """All that rules depend on for a place by itself, as the introduction says."""
        number = {server: i for i, server in enumerate(place.servers)}
        lie = tuple(number[server] for server, _ in place.devices)
        row = self._rows.setdefault(id(place.row), place.row)
        at = place.servers if self._parts.failed else ()
        wires = tuple(self._wires(place)) if not self._parts.failed else place.wiring.name
        return job.model_dump_json(include=ASKED), id(row), lie, at, wires

    def _wires(self, place: Place) -> Iterator[object]:
        """Circuits by rank; of what they take only how much of each tray, and which uplinks are the same."""
        uplinks: dict[str, int] = {}
        ranks = {name: rank for rank, name in enumerate(place.device_names)}
        for held in place.circuits:
            yield held.dimension, held.phase
            for circuit in held.circuits:
                ends = ranks[circuit.source], ranks[circuit.destination]
                ways = tuple(self._way(name, place, uplinks) for name in circuit.fibers)
                yield ends, circuit.wavelengths, ways
        units = set[str]()
        for plug in place.memory:
            port = self._parts.tray_port(plug.port)
            trays = Counter(unit and unit[:2] for unit in map(self._parts.unit, plug.units))
            is_twice = not units.isdisjoint((plug.port, *plug.units)) or len({*plug.units}) < len(plug.units)
            units.update((plug.port, *plug.units))
            at = port and (place.servers.index(port[0]) if port[0] in place.servers else -1, *port[1:3])
            within = tuple((tray and port and tray == port[:2], count) for tray, count in trays.items())
            yield ranks[plug.device], plug.rail, plug.phase, at, within, is_twice

    def _way(self, name: str, place: Place, uplinks: dict[str, int]) -> object:
        found = self._parts.uplink(name)
        if found is None or found[0] not in place.servers:
            return name
        return place.servers.index(found[0]), found[1], uplinks.setdefault(name, len(uplinks))

    def _alone(self, asked: str, job: Job, place: Place) -> Verdict:
        if asked not in self._asked:
            fields: dict[str, Any] = {name: getattr(job, name) for name in ASKED}
            alone = Job(name="the job", **fields)
            self._asked[asked] = Instance(schema_version=1, name="controller", cluster=self._cluster, jobs=(alone,))
        instance, of_row = self._asked[asked], (asked, id(place.row))
        assignment = place.assignment(instance.jobs[0])
        plan = Plan(instance="controller", assignments=(assignment,))
        rules = OF_POOL if of_row in self._right else tuple(rule for rule in CHECKS if rule != LIGHT)
        wrong = next((each.message for rule in rules for each in CHECKS[rule](instance, plan)), None)
        if wrong is None:
            plan = plan.model_copy(update={"switches": setting_of(instance, (assignment,))})
            wrong = next((each.message for each in CHECKS[LIGHT](instance, plan)), None)
        if wrong is not None:
            return wrong, {}
        self._right.add(of_row)
        found = uplinks_reserved(self._parts, instance.jobs[0], assignment)
        return None, {(place.servers.index(server), rail): count for (server, rail), count in found.items()}


def _names(place: Place) -> Iterator[str]:
    """Units, ports and uplinks of a place."""
    for plug in place.memory:
        yield plug.port
        yield from plug.units
    for held in place.circuits:
        for circuit in held.circuits:
            yield from circuit.fibers
