"""Collectives, run round by round over the circuits of the plan."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from costmodel.fabrics import GroupPlan, Lightpath, OcsRail, Sipac, Sipam, Torus
from costmodel.parallelism.configuration import Collective
from costmodel.parallelism.mappings import DIMENSIONS
from planner.checks.names import admitted
from planner.checks.phases import in_phases
from planner.checks.pricing import price
from planner.checks.required import groups, is_sound, sends_packets
from planner.checks.schedule import Schedule, reduces_once, schedule_of
from planner.fabrics.slices.rule_boxes import box_of
from planner.fabrics.slices.rule_links import Links
from planner.fabrics.slices.rule_links import message_time as links_time
from planner.fabrics.slices.rule_slices import placed_parts
from planner.model.instance import Instance
from planner.model.plan import Assignment, HeldCircuits, Plan
from planner.model.violation import Violation

TOLERANCE = 0.0025
"""relative difference between simulated and charged time"""

Switched = Lightpath | OcsRail | Sipam
"""fabrics whose collectives run over circuits"""
Widths = dict[tuple[str, str], int]
"""wavelengths from one device to another in one configuration"""


def check_rounds(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Every group ends with every chunk reduced once, over circuits in force, in the time charged."""
    fabric = instance.cluster.fabric
    if isinstance(fabric, Torus | Sipac):
        yield from _check_slices(instance, plan, fabric)
    if not isinstance(fabric, Switched):
        return
    for job, assignment in admitted(instance, plan):
        charged = price(instance, job, assignment.configuration)
        if charged and len(assignment.devices) == assignment.configuration.num_devices:
            for each, plans in zip(in_phases(job, assignment), charged.by_phase, strict=True):
                yield from _check_job(fabric, each, plans)


def _check_slices(instance: Instance, plan: Plan, fabric: Torus | Sipac) -> Iterator[Violation]:
    """Messages of slices over the links of each part, in the time charged."""
    for job, assignment in admitted(instance, plan):
        charged = price(instance, job, assignment.configuration)
        box = box_of(fabric, assignment.configuration)
        if charged is None or box is None or box.num_ranks == 1:
            continue
        links = Links(fabric, assignment)
        for placed in placed_parts(fabric, box, assignment):
            for dimension, expected in zip(DIMENSIONS, charged.by_phase[-1], strict=True):
                collective: Collective = getattr(assignment.configuration, f"{dimension}_collective")
                if collective.kind == "none":
                    continue
                where = f"{job.name}: {dimension}"
                simulated = links_time(links, collective, dimension, box, placed)
                if simulated is None:
                    yield Violation("rounds", where, f"{where}: a step goes between devices without a link")
                    continue
                yield from _compare(simulated, expected, where)


def _check_job(fabric: Switched, assignment: Assignment, charged: Sequence[GroupPlan]) -> Iterator[Violation]:
    for axis, dimension in enumerate(DIMENSIONS):
        collective: Collective = getattr(assignment.configuration, f"{dimension}_collective")
        lines = groups(assignment.configuration, dimension)
        inside = isinstance(fabric, OcsRail) and sends_packets(collective)
        if inside or not is_sound(collective, len(lines[0])):
            continue
        schedule = schedule_of(collective, len(lines[0]))
        where = f"{assignment.job}: {dimension}"
        if collective.kind in ("ring", "radix", "exchange") and not reduces_once(collective, len(lines[0])):
            yield Violation("rounds", where, f"{where}: its rounds do not reduce every chunk once")
        held = [_widths(held) for held in assignment.circuits if held.dimension == dimension]
        for line in lines:
            devices = [assignment.devices[rank] for rank in line]
            yield from _check_group(fabric, schedule, devices, held, charged[axis], where)


def _widths(held: HeldCircuits) -> Widths:
    return {(c.source, c.destination): len(set(c.wavelengths)) for c in held.circuits}


def _check_group(
    fabric: Switched,
    schedule: Schedule,
    devices: list[str],
    held: list[Widths],
    charged: GroupPlan,
    where: str,
) -> Iterator[Violation]:
    """A round sends only over circuits in force, and all of them take the time charged."""
    for number, each in enumerate(schedule.rounds):
        in_force = held[each.configuration] if each.configuration < len(held) else {}
        ends = [(devices[a], devices[b]) for a, b, _ in each.sends]
        dark = [end for end in ends if end not in in_force]
        if dark:
            message = f"{where}: round {number} has no circuit {dark[0][0]} to {dark[0][1]}"
            yield Violation("rounds", where, message, float(len(dark)))
            return
    yield from _compare(message_time(fabric, schedule, devices, held), charged, where)


def _compare(time: tuple[float, float], charged: GroupPlan, where: str) -> Iterator[Violation]:
    """Seconds of a message, fixed and per byte, are those charged."""
    latency_s, seconds_per_byte = time
    for name, simulated, expected in (
        ("latency_s", latency_s, charged.latency_s),
        ("seconds_per_byte", seconds_per_byte, charged.seconds_per_byte),
    ):
        if abs(simulated - expected) > TOLERANCE * expected:
            message = f"{where}: {name} is {simulated:.6g} over its circuits, charged {expected:.6g}"
            yield Violation("rounds", where, message, abs(simulated - expected))


def message_time(fabric: Switched, schedule: Schedule, devices: list[str], held: list[Widths]) -> tuple[float, float]:
    """Fixed seconds of a message, and seconds per byte: each round waits for its slowest circuit."""
    shares = [
        max(len(chunks) / held[each.configuration][devices[a], devices[b]] for a, b, chunks in each.sends)
        for each in schedule.rounds
    ]
    if isinstance(fabric, OcsRail):
        bytes_per_s, change_s = fabric.port_bandwidth_bytes_per_s, 0.0
    elif isinstance(fabric, Sipam):
        bytes_per_s, change_s = fabric.shoreline.io.bandwidth_bytes_per_s, 0.0
    else:
        bytes_per_s, change_s = fabric.wavelength_bandwidth_bytes_per_s, fabric.reconfiguration_s
    byte_s = sum(shares) / schedule.num_chunks / bytes_per_s
    latency_s = len(schedule.rounds) * fabric.alpha_s + _changes(schedule) * change_s
    return latency_s / schedule.num_messages, byte_s / schedule.num_messages


def _changes(schedule: Schedule) -> int:
    """Changes of configuration in one of many calls: each call starts where the last one ended."""
    used = [each.configuration for each in schedule.rounds]
    return sum(a != b for a, b in pairwise([*used[-1:], *used]))
