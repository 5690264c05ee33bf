"""From the circuits of one plan to those of the next: as few changes as possible, in stages that disturb nobody."""

from collections.abc import Sequence
from dataclasses import dataclass

from planner.cpsat.repair import RepairLimits, RepairProblem, fewest_moves
from planner.fabrics import plugin_of
from planner.fabrics.ranked_assignment import RankedAssignment, ranked_by
from planner.fabrics.ranked_circuits import RankedCircuit
from planner.fabrics.rewiring import WantedCircuits
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Assignment, Circuit, HeldCircuits, Plan
from planner.model.resident_plan import plan_of_residents
from planner.whatif.restate import restated
from planner.whatif.transition import Transition, num_kept, transition

MAX_LITERALS = 400_000
"""larger models are not searched: first fit keeps what it can, and the bound is stated"""


@dataclass(frozen=True)
class Reconfiguration:
    """The next plan with the light that could stay, and the way to it."""

    plan: Plan
    num_circuits: int
    """of the next plan"""
    kept: int
    most_kept: int
    """proven: no light for the next plan's devices keeps more"""
    torn_down: int
    transition: Transition

    @property
    def changed(self) -> int:
        """Circuits that are set up."""
        return self.num_circuits - self.kept

    @property
    def is_proven(self) -> bool:
        """True if fewest circuits change and fewest tenants pause."""
        return self.kept == self.most_kept and len(self.transition.paused) == self.transition.least_paused


def reconfigure(
    instance: Instance, new: Plan, old: Plan | None = None, *, limits: RepairLimits | None = None
) -> Reconfiguration:
    """From an old plan, or from the residents, to a new one.

    Jobs, configurations and devices are those of the new plan; fibers and wavelengths are chosen again so that as
    many of its circuits as possible are on already. A circuit stays if the same job has it in the same
    configuration: from and to the same devices, on the same wavelengths and fiber.
    """
    before = plan_of_residents(instance) if old is None else old
    plan, most_kept = _with_old_light(instance, before, new, limits or RepairLimits())
    old_jobs = {a.job: a for a in before.assignments}
    kept = sum(num_kept(old_jobs.get(a.job), a) for a in plan.assignments)
    return Reconfiguration(
        plan=plan,
        num_circuits=_num_circuits(plan),
        kept=kept,
        most_kept=max(most_kept, kept),
        torn_down=_num_circuits(before) - kept,
        transition=transition(instance.cluster, before.assignments, plan.assignments),
    )


def _num_circuits(plan: Plan) -> int:
    return sum(len(held.circuits) for assignment in plan.assignments for held in assignment.circuits)


def _with_old_light(instance: Instance, old: Plan, new: Plan, limits: RepairLimits) -> tuple[Plan, int]:
    """The new plan with as much of the old light as possible, and a bound on the circuits that can stay."""
    fabric = instance.cluster.fabric
    if not fabric.has_circuits:
        return new, 0
    before = {a.job: ranked_by(fabric, a) for a in old.assignments}
    tenants = tuple(ranked_by(fabric, a) for a in new.assignments)
    wanted = tuple(_wanted(instance, before.get(tenant.name), tenant) for tenant in tenants)
    bound = sum(beam is not None for rows in wanted for held in rows for beam in held)
    rewiring = plugin_of(fabric).rewiring(instance.cluster)
    if rewiring is None:
        return new, bound
    circuits = rewiring.first_fit(tenants, wanted)
    if circuits is None:
        circuits, bound = _exact(instance, tenants, wanted, limits, bound)
    if circuits is None:
        return new, bound
    assignments = [
        tenant.assignment.model_copy(update={"circuits": held}) for tenant, held in zip(tenants, circuits, strict=True)
    ]
    return restated(instance, new, assignments), bound


def _wanted(instance: Instance, old: RankedAssignment | None, new: RankedAssignment) -> WantedCircuits:
    """Light that each circuit of the new plan had, and can have, in the same configuration of the old one."""
    if old is None:
        return tuple((None,) * len(links) for links in new.links)
    before: dict[tuple[str, int], dict[tuple[str, str, int], RankedCircuit]] = {}
    parts = _keys(old.assignment), old.assignment.circuits, old.lights, old.broken(instance.cluster)
    for key, held, beams, broken in zip(*parts, strict=True):
        working = [i for i in range(len(beams)) if i not in broken]
        before[key] = {_ends(held.circuits[i]): beams[i] for i in working}
    return tuple(
        tuple(before.get(key, {}).get(_ends(circuit)) for circuit in held.circuits)
        for key, held in zip(_keys(new.assignment), new.assignment.circuits, strict=True)
    )


def _ends(circuit: Circuit) -> tuple[str, str, int]:
    return circuit.source, circuit.destination, len(set(circuit.wavelengths))


def _keys(assignment: Assignment) -> list[tuple[str, int]]:
    """Dimension, and number in it, of each configuration."""
    seen: list[str] = [held.dimension for held in assignment.circuits]
    return [(dimension, seen[:i].count(dimension)) for i, dimension in enumerate(seen)]


def _exact(
    instance: Instance,
    tenants: tuple[RankedAssignment, ...],
    wanted: Sequence[WantedCircuits],
    limits: RepairLimits,
    bound: int,
) -> tuple[list[tuple[HeldCircuits, ...]] | None, int]:
    """Most circuits kept by search, where the model is small enough; and the bound it proves."""
    cluster = instance.cluster
    servers = range(cluster.fabric.num_servers)
    scene = RepairProblem(
        cluster=cluster,
        tenants=tenants,
        free=frozenset((s, slot) for s in servers for slot in cluster.healthy_slots(s)),
        pinned=frozenset(tenant.name for tenant in tenants),
    )
    if scene.size > MAX_LITERALS:
        return None, bound
    found = fewest_moves(scene, wanted, limits)
    if found.is_impossible:
        raise InputError("new plan", instance.name, "its circuits cannot all be on; `planner check` says why")
    if found.devices is None:
        return None, bound
    total = sum(tenant.num_circuits for tenant in tenants)
    spares = plugin_of(cluster.fabric).spares
    circuits = [
        spares.circuits(cluster.fabric, tenant, tenant.devices, beams)
        for tenant, beams in zip(tenants, found.beams, strict=True)
    ]
    return circuits, min(bound, total - found.least_changes)
