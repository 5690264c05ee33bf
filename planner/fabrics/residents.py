"""Rules for the jobs that run already, and the parts that they lost."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from costmodel.fabrics import FabricBase
from costmodel.pricing.candidates import Candidates, candidates_of
from costmodel.pricing.servers_by_rack import is_met
from planner.fabrics import plugin_of
from planner.fabrics.claims import Holdings, Placed, lost
from planner.fabrics.demand import Demand, shape_of
from planner.fabrics.rack_claims import uplinks_held, uplinks_there
from planner.fabrics.rack_residents import check_rack_circuits, check_racks
from planner.model.cluster import Cluster
from planner.model.plan import Circuit

if TYPE_CHECKING:
    from planner.model.job import Resident

Device = tuple[int, int]
"""(server, slot)"""


@dataclass(frozen=True)
class Running:
    """A resident with what its configuration asks of the fabric; ValueError where that cannot run at all."""

    cluster: Cluster
    resident: "Resident"

    @property
    def where(self) -> str:
        """Beginning of messages."""
        return f"residents[{self.resident.name}]"

    @cached_property
    def candidates(self) -> Candidates:
        """Its configuration, the only row."""
        resident, cluster = self.resident, self.cluster
        try:
            return candidates_of([resident.configuration], resident.workload, cluster.device, cluster.fabric)
        except (ValueError, OverflowError) as error:
            raise ValueError(f"{self.where}.configuration: {error}") from None

    @cached_property
    def demand(self) -> Demand:
        return shape_of(self.candidates, 0, self.cluster.fabric)

    @cached_property
    def devices(self) -> list[Device]:
        return [self.cluster.fabric.parse_device(name) for name in self.resident.devices]

    @property
    def blocks(self) -> list[list[Device]]:
        """Devices of each block of consecutive ranks."""
        block = self.demand.block
        return [self.devices[i : i + block] for i in range(0, len(self.devices), block)]


class ResidentRules:
    """Rules for residents on servers joined by packets: memory is local, and there are no circuits.

    Each method raises ValueError with the field, what is wrong and the remedy.
    """

    def check_memory(self, cluster: Cluster, residents: Sequence["Resident"]) -> None:
        """Memory of all residents that is not what they ask for, not there, or taken."""
        for resident in residents:
            if resident.memory:
                kind = cluster.fabric.kind
                raise ValueError(f"residents[{resident.name}].memory: memory is local on a {kind}; remove it")

    def check_circuit(self, fabric: FabricBase, resident: "Resident", circuit: Circuit, where: str) -> None:
        """One circuit that the fabric cannot have."""
        raise ValueError(f"{where}.circuits: a {fabric.kind} has no circuits; remove them")

    def check_circuits(self, running: Running) -> None:
        """Circuits, or a layout, that the configuration does not ask for or that meet each other."""

    def check_shares(self, cluster: Cluster, residents: Sequence["Resident"]) -> None:
        """Residents that together take more than there is."""


def check_residents(cluster: Cluster, residents: Sequence["Resident"]) -> None:
    """Raise ValueError for a resident that cannot be running as the file says."""
    if not residents:
        return
    plugin = plugin_of(cluster.fabric)
    rules, claims, holdings = plugin.residents, plugin.claims, Holdings()
    rules.check_memory(cluster, residents)
    for resident in residents:
        running = Running(cluster, resident)
        where = running.where
        _check_devices(cluster, resident, where, holdings)
        for held in resident.circuits:
            for circuit in held.circuits:
                rules.check_circuit(cluster.fabric, resident, circuit, where)
        _check_layout(running)
        _check_servers_by_rack(cluster, resident, where)
        rules.check_circuits(running)
        claimed = claims.of(cluster.fabric, resident)
        if taken := holdings.conflict(claimed):
            part = claims.named(taken.part, taken.bits)
            raise ValueError(f"{where}.circuits: {taken.owner} already uses {part}")
        _check_uplinks(cluster, resident, holdings, where)
        holdings.take(resident.name, claimed)
        failed = lost(claimed, cluster.failed_parts)
        if failed and not resident.movable:
            raise ValueError(
                f"{where}.movable: the resident is on failed part {failed[0]} and may not move; "
                "let it move, or remove it or the failure"
            )
    rules.check_shares(cluster, residents)


def _check_uplinks(cluster: Cluster, resident: "Resident", holdings: Holdings, where: str) -> None:
    """Links between racks that are counted, beside those of others."""
    held = uplinks_held(cluster.fabric, resident.configuration, resident.devices)
    scarce = holdings.overdrawn(held, uplinks_there(cluster))
    if scarce is not None:
        raise ValueError(
            f"{where}.configuration: residents hold more {scarce} than there are; give its job fewer links"
        )


def _check_devices(cluster: Cluster, resident: "Resident", where: str, others: Holdings) -> None:
    if len(resident.devices) != resident.configuration.num_devices:
        raise ValueError(
            f"{where}.devices: {len(resident.devices)} accelerators for the "
            f"{resident.configuration.num_devices} ranks of its configuration"
        )
    own: set[str] = set()
    for name in resident.devices:
        try:
            cluster.fabric.parse_device(name)
        except ValueError as error:
            raise ValueError(f"{where}.devices: {error}") from None
        for owner in (resident.name,) if name in own else others.owners(name):
            raise ValueError(f"{where}.devices: {name} already belongs to {owner}")
        own.add(name)


def _check_servers_by_rack(cluster: Cluster, resident: "Resident", where: str) -> None:
    if not (resident.movable or _lies_as_asked(cluster, resident)):
        raise ValueError(
            f"{where}.constraints.servers_by_rack: it lies on other numbers of servers and may not move; "
            "let it move, or write the numbers on which it lies"
        )


def _check_layout(running: Running) -> None:
    demand, fabric = running.demand, running.cluster.fabric
    if any(len({server for server, _ in block}) > 1 for block in running.blocks):
        raise ValueError(f"{running.where}.devices: each block of {demand.block} ranks must lie in one server")
    if not fabric.links_racks:
        racks, circuits = [fabric.rack_of(server) for server, _ in running.devices], running.resident.upper
        check_racks(fabric, racks, demand.racks, running.where)
        check_rack_circuits(fabric, sorted({*racks}), demand.links, circuits, running.where)
    per_server = running.resident.constraints.per_server
    if per_server is None:
        return
    given = Counter(server for server, _ in running.devices)
    if set(given.values()) != {per_server}:
        asked = f"each server must give constraints.per_server, {per_server} of them"
        raise ValueError(f"{running.where}.devices: {asked}")
    if demand.part != per_server:
        problem = f"a server takes {demand.part} ranks together, constraints.per_server is {per_server}"
        raise ValueError(f"{running.where}.configuration.block: {problem}; write the same number there")


def check_ends(resident: "Resident", circuit: Circuit, where: str) -> None:
    """Raise ValueError for a circuit that ends at somebody else's device."""
    for end in (circuit.source, circuit.destination):
        if end not in resident.devices:
            raise ValueError(f"{where}.circuits: {end} is none of its accelerators")


def check_asked_circuits(running: Running) -> None:
    """Raise ValueError where the circuits of a resident are not those of its configuration, phase by phase."""
    resident = running.resident
    for each in running.demand.by_phase:
        asked = [
            (name, Counter((resident.devices[u], resident.devices[v], width) for u, v, width in circuits))
            for name, circuits in each.configurations
        ]
        given = [
            (held.dimension, Counter((c.source, c.destination, len(set(c.wavelengths))) for c in held.circuits))
            for held in resident.circuits
            if held.phase in (None, each.phase, *each.turns)
        ]
        if asked != given:
            raise ValueError(
                f"{running.where}.circuits: these are not the circuits of its configuration; copy them from the plan "
                "that started it (`planner solve --plan-out`)"
            )


def may_stay(cluster: Cluster, resident: "Resident") -> bool:
    """True if a resident stands on nothing that failed, and on as many servers of each rack as it asks for."""
    return not lost_parts(cluster, resident) and _lies_as_asked(cluster, resident)


def _lies_as_asked(cluster: Cluster, resident: "Resident") -> bool:
    """True if a resident has as many servers of each rack as it asks for."""
    asked, fabric = resident.constraints.servers_by_rack, cluster.fabric
    servers = {fabric.parse_device(name)[0] for name in resident.devices} if asked is not None else set()
    return asked is None or is_met(asked, Counter(map(fabric.rack_of, servers)).values())


def lost_parts(cluster: Cluster, resident: Placed) -> list[str]:
    """Failed parts that a resident stands on; a displaced resident must move."""
    if not cluster.failed_parts:
        return []
    return lost(plugin_of(cluster.fabric).claims.of(cluster.fabric, resident), cluster.failed_parts)
