"""Rules of every fabric whose collectives run over circuits that a job holds."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from costmodel.fabrics import FabricBase, GroupPlan, plans_by_pool
from costmodel.parallelism.configuration import Collective, Configuration
from costmodel.parallelism.mappings import DIMENSIONS
from planner.checks.all_to_all import delivers
from planner.checks.charged import compare_time
from planner.checks.circulants import relays_deliver
from planner.checks.fabric_rules import FabricRules
from planner.checks.phases import in_phases
from planner.checks.pricing import Price
from planner.checks.required import Links, groups_in_racks, is_sound, prompt_groups, required_links
from planner.checks.rounds_across import NO_TIME, Time, reduces_once_across, time_between_racks
from planner.checks.schedule import Schedule, reduces_once, schedule_of
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment, HeldCircuits
from planner.model.violation import Violation

REDUCING = ("ring", "radix", "exchange", "circulant")
"""kinds of all-reduces over circuits"""
Widths = dict[tuple[str, str], int]
"""wavelengths from one device to another in one configuration"""


@dataclass(frozen=True)
class CircuitSpeed:
    """How fast circuits carry messages."""

    alpha_s: float
    """of a round"""
    bytes_per_s: float
    """of one wavelength"""
    change_s: float = 0.0
    """between two configurations of circuits"""


class CircuitRules(FabricRules):
    """A job holds exactly the circuits of its collectives, and these run over them."""

    @abstractmethod
    def speed(self, fabric: FabricBase) -> CircuitSpeed:
        """Of the circuits of a fabric of this kind."""

    def is_simulated(self, collective: Collective) -> bool:
        """True if its rounds run over circuits."""
        return True

    def required(self, configuration: Configuration) -> list[tuple[str, Links]] | None:
        return required_links(configuration)

    def simulate(self, instance: Instance, job: Job, assignment: Assignment, charged: Price) -> Iterator[Violation]:
        if len(assignment.devices) == assignment.configuration.num_devices:
            for each, plans in zip(in_phases(job, assignment), charged.by_phase, strict=True):
                yield from self._simulate_phase(instance.cluster.fabric, each, plans)

    def _simulate_phase(
        self, fabric: FabricBase, assignment: Assignment, charged: Sequence[GroupPlan]
    ) -> Iterator[Violation]:
        speed = self.speed(fabric)
        for axis, dimension in enumerate(DIMENSIONS):
            collective: Collective = getattr(assignment.configuration, f"{dimension}_collective")
            plans, lines = plans_by_pool(charged[axis]), groups_in_racks(assignment.configuration, dimension)
            held = [_widths(held) for held in assignment.circuits if held.dimension == dimension]
            where, devices = f"{assignment.job}: {dimension}", assignment.devices
            beyond = time_between_racks(fabric, assignment.configuration) if dimension == "data" else NO_TIME
            yield from self._simulate_groups(speed, collective, lines, devices, held, plans[-1], where, beyond)
            if collective.prefill is not None and len(plans) > 1:
                first = prompt_groups(assignment.configuration, dimension)
                yield from self._simulate_groups(speed, collective.prefill, first, devices, held, plans[0], where)

    def _simulate_groups(
        self, speed: CircuitSpeed, collective: Collective, lines: list[list[int]], devices: Sequence[str],
        held: list[Widths], charged: GroupPlan, where: str, beyond: Time = NO_TIME,
    ) -> Iterator[Violation]:  # fmt: skip
        """Groups of ranks with one collective."""
        if not self.is_simulated(collective) or not is_sound(collective, len(lines[0])):
            return
        schedule = schedule_of(collective, len(lines[0]))
        if collective.kind in REDUCING and not _reduces_once(collective, len(lines[0])):
            yield Violation("rounds", where, f"{where}: its rounds do not reduce every chunk once")
        if collective.kind in ("direct", "bruck") and not delivers(collective, len(lines[0])):
            yield Violation("rounds", where, f"{where}: its rounds do not take every part to its rank")
        if collective.kind == "circulant_relay" and not relays_deliver(collective.radices, len(lines[0])):
            yield Violation("rounds", where, f"{where}: its rounds do not take every part to its rank")
        for line in lines:
            yield from _simulate_group(speed, schedule, [devices[rank] for rank in line], held, beyond, charged, where)


def _reduces_once(collective: Collective, ranks: int) -> bool:
    return reduces_once(collective, ranks) if collective.racks == 1 else reduces_once_across(collective, ranks)


def _widths(held: HeldCircuits) -> Widths:
    return {(c.source, c.destination): len(set(c.wavelengths)) for c in held.circuits}


def _simulate_group(
    speed: CircuitSpeed,
    schedule: Schedule,
    devices: list[str],
    held: list[Widths],
    beyond: Time,
    charged: GroupPlan,
    where: str,
) -> Iterator[Violation]:
    """A round sends only over circuits in force, and all of them, with what racks take beyond, the time charged."""
    in_force = [held[number] if number < len(held) else {} for number, _, _ in schedule.ends.distinct]
    ends = [(devices[a], devices[b]) for _, a, b in schedule.ends.distinct]
    dark = schedule.ends.first_dark([end not in lit for end, lit in zip(ends, in_force, strict=True)])
    if dark is not None:
        number, (_, a, b), many = dark
        message = f"{where}: round {number} has no circuit {devices[a]} to {devices[b]}"
        yield Violation("rounds", where, message, float(many))
        return
    latency_s, byte_s = message_time(speed, schedule, devices, held)
    yield from compare_time((latency_s + beyond[0], byte_s + beyond[1]), charged, where)


def message_time(
    speed: CircuitSpeed, schedule: Schedule, devices: list[str], held: list[Widths]
) -> tuple[float, float]:
    """Fixed seconds of a message, and seconds per byte: each round waits for its slowest circuit."""
    shares = schedule.ends.slowest([held[number][devices[a], devices[b]] for number, a, b in schedule.ends.distinct])
    byte_s = sum(shares) / schedule.num_chunks / speed.bytes_per_s
    changes = _changes(schedule) + schedule.num_interruptions
    latency_s = len(schedule.rounds) * speed.alpha_s + changes * speed.change_s
    return latency_s / schedule.num_messages, byte_s / schedule.num_messages


def _changes(schedule: Schedule) -> int:
    """Changes of configuration in one of many calls: each call starts where the last one ended."""
    used = [each.configuration for each in schedule.rounds]
    return sum(a != b for a, b in pairwise([*used[-1:], *used]))
