"""Claims: what a placement owns, counts and relies on, by the names of parts that plans and health use.

From claims follow, on every fabric alike, who may stand beside whom (`Holdings`) and what a failure breaks (`lost`).
Claims are read from names alone. They share no code with what finds placements, so that validators may rely on them:
the claims of each fabric import only the cost model and the model of files.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from costmodel.fabrics import FabricBase
from costmodel.parallelism.configuration import Configuration
from planner.fabrics.rack_claims import owned_between_racks, switches_between_racks, uplinks_held, uplinks_there
from planner.model.cluster import PORT, Cluster
from planner.model.lying import Lying
from planner.model.plan import Circuit, HeldCircuits, MemoryCircuit, RackCircuit


class Placed(Protocol):
    """A job where it lies, by name: an assignment of a plan, or a resident."""

    @property
    def devices(self) -> tuple[str, ...]: ...
    @property
    def configuration(self) -> Configuration: ...
    @property
    def circuits(self) -> tuple[HeldCircuits, ...]: ...
    @property
    def memory(self) -> tuple[MemoryCircuit, ...]: ...
    @property
    def upper(self) -> tuple[RackCircuit, ...]: ...


class _Named(NamedTuple):
    """A job that is known by number, as plans write it."""

    job: Lying

    @property
    def devices(self) -> tuple[str, ...]:
        return self.job.device_names

    @property
    def configuration(self) -> Configuration:
        return self.job.configuration

    @property
    def circuits(self) -> tuple[HeldCircuits, ...]:
        return self.job.circuits

    @property
    def memory(self) -> tuple[MemoryCircuit, ...]:
        return self.job.memory

    @property
    def upper(self) -> tuple[RackCircuit, ...]:
        return self.job.upper


class Claims(NamedTuple):
    """Parts of a cluster that one placement takes."""

    owned: Mapping[str, int]
    """bit mask by part, devices by rank first: no other job may own the same bits (1 of a device, wavelengths of a
    fiber)"""
    counted: Mapping[str, int]
    """amount by part: the sum over all jobs stays within the capacity"""
    relies_on: tuple[str, ...]
    """parts that must work, though others may rely on them too"""


class JobClaims:
    """Claims of jobs whose servers are joined by packets: devices alone, and the port of each where there are several.

    A fabric whose jobs hold more says what in a class of its own.
    """

    def of(self, fabric: FabricBase, job: Placed, *, works: bool = False) -> Claims:
        """Everything that a placed job claims; `works`: every part does, so that none it relies on need be named."""
        owned = dict.fromkeys(job.devices, 1)
        owned.update(self.owned(fabric, job))
        owned.update(owned_between_racks(job.upper))
        relied = (
            () if works else (*ports_of(job.devices), *self.relied_on(fabric, job), *switches_between_racks(job.upper))
        )
        return Claims(owned, self.counted(fabric, job), relied)

    def of_lying(self, cluster: Cluster, job: Lying) -> Claims:
        """Claims of a job that is known by number; it may not name parts that it relies on where all of these work."""
        return self.of(cluster.fabric, _Named(job), works=not cluster.failed_parts)

    def owned(self, fabric: FabricBase, job: Placed) -> Mapping[str, int]:
        """Bit masks of the parts that it owns beside devices, sorted by part."""
        return {}

    def counted(self, fabric: FabricBase, job: Placed) -> Mapping[str, int]:
        """Amounts that it takes of what is shared by number."""
        return uplinks_held(fabric, job.configuration, job.devices)

    def relied_on(self, fabric: FabricBase, job: Placed) -> Iterable[str]:
        """Parts that it neither owns nor counts, and that must work, sorted."""
        return ()

    def of_circuit(self, fabric: FabricBase, circuit: Circuit) -> Collection[str]:
        """Parts beside its devices without which one circuit carries no light."""
        return ()

    def capacity(self, cluster: Cluster) -> Mapping[str, int]:
        """Most that all jobs together may count of each part."""
        return uplinks_there(cluster)

    def named(self, part: str, bits: int) -> str:
        """Name in messages of the lowest of some bits of a part."""
        return part


def ports_of(devices: Sequence[str]) -> list[str]:
    """Ports that a job on these devices relies on: a single device does without."""
    return [device + PORT for device in devices] if len(devices) > 1 else []


def lost(claims: Claims, failed: frozenset[str]) -> list[str]:
    """Failed parts without which a placement does not work: devices by rank first, named for a failed port as well.

    `failed` as `Cluster.failed_parts` has it.
    """
    if not failed or (failed.isdisjoint(claims.owned) and failed.isdisjoint(claims.relies_on)):
        return []
    ports = {part for part in failed.intersection(claims.relies_on) if part.endswith(PORT)}
    needed = (*claims.owned, *(part for part in claims.relies_on if part not in ports))
    return [part for part in needed if part in failed or part + PORT in ports]


class Conflict(NamedTuple):
    """Bits of a part that a job owns already."""

    part: str
    bits: int
    owner: str


class Holdings:
    """Claims of all running jobs: owners of each part, and amounts that are counted."""

    def __init__(self) -> None:
        self._claims: dict[str, Claims] = {}
        self._owners: dict[str, dict[str, int]] = {}
        """mask by job by part"""
        self._counts: Counter[str] = Counter()

    def take(self, job: str, claims: Claims) -> None:
        """A job holds these claims from now on."""
        self._claims[job] = claims
        for part, bits in claims.owned.items():
            self._owners.setdefault(part, {})[job] = bits
        for part, amount in claims.counted.items():
            self._counts[part] += amount

    def release(self, job: str) -> None:
        """A job gives back all that it holds; KeyError where it holds nothing."""
        claims = self._claims.pop(job)
        for part in claims.owned:
            owners = self._owners[part]
            del owners[job]
            if not owners:
                del self._owners[part]
        for part, amount in claims.counted.items():
            self._counts[part] -= amount

    def owners(self, part: str) -> Mapping[str, int]:
        """Jobs that own bits of a part, with their masks."""
        return self._owners.get(part, {})

    def conflict(self, claims: Claims, leaving: Collection[str] = ()) -> Conflict | None:
        """The first part, at its lowest bit, that another job owns, jobs that leave apart; None where there is none."""
        for part, wanted in claims.owned.items():
            if part not in self._owners:
                continue
            taken = [
                Conflict(part, bits & wanted, job)
                for job, bits in self._owners[part].items()
                if bits & wanted and job not in leaving
            ]
            if taken:
                return min(taken, key=lambda each: each.bits & -each.bits)
        return None

    def counted(self, part: str, leaving: Iterable[str] = ()) -> int:
        """Amount of a part that jobs take together, those that leave apart."""
        gone = (self._claims[job].counted.get(part, 0) for job in leaving if job in self._claims)
        return self._counts[part] - sum(gone)

    def overdrawn(
        self, counted: Mapping[str, int], capacity: Mapping[str, int], leaving: Collection[str] = ()
    ) -> str | None:
        """The first part of which these amounts and those of other jobs exceed the capacity; None where there is
        none."""
        for part, more in counted.items():
            if self.counted(part, leaving) + more > capacity[part]:
                return part
        return None
