"""Rules of rails on columns: circuits of all jobs at once, so that a plan that breaks none is seen to in one look."""

import re
from collections.abc import Collection, Sequence

import numpy as np

from costmodel.fabrics import OcsRail
from costmodel.parallelism.configuration import Configuration
from costmodel.parallelism.mappings import DIMENSIONS
from planner.checks.columns import Bools, Ints, columns, numbers
from planner.checks.names import admitted
from planner.model.instance import Instance
from planner.model.plan import Assignment, Circuit, Plan

Switch = tuple[int, int]
"""(rail, number in it)"""
InTurn = tuple[str | None, Circuit]
"""a circuit and the turn of its job in which it is on; None: in all"""


def circuits_of(instance: Instance, plan: Plan) -> list[InTurn]:
    """Circuits of all jobs."""
    return [each for _, assignment in admitted(instance, plan) for each in in_turns(assignment)]


def in_turns(assignment: Assignment) -> list[InTurn]:
    """Circuits of a job: those of one without turns are on all the time, whatever their phase says."""
    turns = assignment.configuration.turns
    return [(held.phase if turns else None, c) for held in assignment.circuits for c in held.circuits]


def failed_switches(instance: Instance) -> set[Switch]:
    """Switches that are down."""
    names = (re.fullmatch(r"q(\d+)#(\d+)", name) for name in instance.cluster.health.failed_switches)
    return {(int(name[1]), int(name[2])) for name in names if name}


def jobs_astray(instance: Instance, plan: Plan) -> Bools:
    """Jobs with circuits, (J,), that do not surely have each block on a server of its own and on the same rails."""
    placed, per_server = columns(instance, plan), instance.cluster.fabric.devices_per_server
    named = np.array([_names_wavelengths(each) for each in placed.configurations], np.bool_)[placed.kind]
    held = np.array([any(held.circuits for held in a.circuits) for _, a in admitted(instance, plan)], np.bool_)
    slot, first = placed.device - per_server * placed.server, placed.first_of_job + placed.place_in_block
    torn = placed.jobs_with((placed.device < 0) | (slot != slot[first]))
    used = np.unique(placed.job * (instance.cluster.fabric.num_servers + 1) + placed.server)
    servers = np.bincount(used // (instance.cluster.fabric.num_servers + 1), minlength=len(placed.kind))
    apart = (servers * placed.blocks == placed.num_devices) & (servers > 1)
    return np.asarray((named | held) & (torn | ~apart))


def _names_wavelengths(configuration: Configuration) -> bool:
    return any(getattr(configuration, f"{dimension}_collective").wavelengths for dimension in DIMENSIONS)


def are_on_rails(fabric: OcsRail, lit: Sequence[InTurn], failed: Collection[Switch]) -> bool:
    """True if all circuits join devices of one rail in two servers over working switches, each device once through a
    switch in a turn, and no switch has more than its ports, whichever turns jobs are in."""
    circuits, turns = [circuit for _, circuit in lit], sorted({str(turn) for turn, _ in lit})
    if any(circuit.fibers for circuit in circuits):
        return False
    ends = [numbers(fabric, (getattr(circuit, end) for circuit in circuits)) for end in ("source", "destination")]
    (source, rail), (destination, other) = (np.divmod(end, fabric.devices_per_server) for end in ends)
    if any((end < 0).any() for end in ends) or (rail != other).any() or (source == destination).any():
        return False
    used = [number for circuit in circuits for number in circuit.wavelengths]
    if not all(0 <= number < fabric.switches for number in used):
        return False
    switch, widths = np.array(used, np.int64), np.array([len(circuit.wavelengths) for circuit in circuits], np.int64)
    through = np.repeat(rail, widths) * fabric.switches + switch
    down = [rail * fabric.switches + number for rail, number in failed]
    senders = np.unique(np.repeat(source * fabric.devices_per_server + rail, widths) * fabric.switches + switch)
    ports = np.bincount(senders % (fabric.devices_per_server * fabric.switches)).max(initial=0)
    turn = np.repeat([turns.index(str(turn)) for turn, _ in lit], widths).astype(np.int64) * fabric.switches + switch
    once = all(_are_distinct(np.repeat(end, widths) * fabric.switches * len(turns) + turn) for end in ends)
    return once and bool(ports <= fabric.ports) and not np.isin(through, down).any()


def _are_distinct(numbers_: Ints) -> bool:
    return len(np.unique(numbers_)) == len(numbers_)
