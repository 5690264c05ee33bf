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
        known: dict[tuple[int, ...], Time] = {}
        for line in lines:
            group = [devices[rank] for rank in line]
            widths = _widths_of_ends(schedule, group, held)
            if 0 in widths:
                yield _dark(schedule, group, widths, where)
                continue
            if widths not in known:
                known[widths] = _time_over(speed, schedule, widths)
            latency_s, byte_s = known[widths]
            yield from compare_time((latency_s + beyond[0], byte_s + beyond[1]), charged, where)


def _reduces_once(collective: Collective, ranks: int) -> bool:
    return reduces_once(collective, ranks) if collective.racks == 1 else reduces_once_across(collective, ranks)


def _widths(held: HeldCircuits) -> Widths:
    return {(c.source, c.destination): len(set(c.wavelengths)) for c in held.circuits}


def _widths_of_ends(schedule: Schedule, devices: Sequence[str], held: Sequence[Widths]) -> tuple[int, ...]:
    """Wavelengths of each distinct circuit that the rounds send over; 0 where it is not in force."""
    in_force = [held[number] if number < len(held) else {} for number in range(schedule.num_configurations)]
    return tuple([in_force[number].get((devices[a], devices[b]), 0) for number, a, b in schedule.ends.distinct])


def _dark(schedule: Schedule, devices: Sequence[str], widths: Sequence[int], where: str) -> Violation:
    """A round sends over a circuit that is not in force."""
    dark = schedule.ends.first_dark([not width for width in widths])
    assert dark is not None
    number, (_, a, b), many = dark
    message = f"{where}: round {number} has no circuit {devices[a]} to {devices[b]}"
    return Violation("rounds", where, message, float(many))


def message_time(speed: CircuitSpeed, schedule: Schedule, devices: Sequence[str], held: Sequence[Widths]) -> Time:
    """Fixed seconds of a message, and seconds per byte, over circuits that are all in force."""
    return _time_over(speed, schedule, _widths_of_ends(schedule, devices, held))


def _time_over(speed: CircuitSpeed, schedule: Schedule, widths: Sequence[int]) -> Time:
    """The same over distinct circuits of these widths: each round waits for its slowest circuit."""
    shares = schedule.ends.slowest(widths)
    byte_s = sum(shares) / schedule.num_chunks / speed.bytes_per_s
    changes = _changes(schedule) + schedule.num_interruptions
    latency_s = len(schedule.rounds) * speed.alpha_s + changes * speed.change_s
    return latency_s / schedule.num_messages, byte_s / schedule.num_messages


def _changes(schedule: Schedule) -> int:
    """Changes of configuration in one of many calls: each call starts where the last one ended."""
    used = [each.configuration for each in schedule.rounds]
    return sum(a != b for a, b in pairwise([*used[-1:], *used]))
