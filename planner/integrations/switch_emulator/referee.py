"""Where light went against where jobs wanted it: a referee who reads the switches, not anybody's memory."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from planner.integrations.switch_emulator.faults import FaultKind
from planner.integrations.switch_emulator.light import CONTROLLER, LightInterval

CrossConnect = tuple[str, str, str]
"""switch, port of side A, port of side B"""
Port = tuple[str, str]
"""switch, port"""


class FindingKind(StrEnum):
    """What is wrong."""

    WRONG = "wrong"
    """light joins a port that a job holds with a port that nobody holds"""
    SHARED = "shared"
    """light joins ports of two jobs, or two jobs hold one port at one time"""
    LEAKED = "leaked"
    """light between ports that no job holds"""
    EARLY = "early"
    """a job started before light passed on all its circuits"""
    DARK = "dark"
    """a job ran while a circuit of it had no light"""
    TAKEN = "taken"
    """a request put off a circuit that was not its own: right only where somebody was told"""


@dataclass(frozen=True)
class Holding:
    """What a job holds: from the decision that gives it the circuits until the one that takes them."""

    job: str
    circuits: frozenset[CrossConnect]
    from_s: float
    until_s: float = math.inf
    started_s: float | None = None
    """when it was told to run; None where it never was"""


@dataclass(frozen=True)
class Finding:
    """One thing that was wrong, and for how long."""

    kind: FindingKind
    switch: str
    a_side: str
    b_side: str
    jobs: tuple[str, ...]
    from_s: float
    until_s: float
    cause: str
    """what made the light, or put it off where there is none: `request`, or a fault of the switch"""

    @property
    def is_by_request(self) -> bool:
        """Whether who controls the switches is to blame, and no fault of a switch."""
        return self.cause == CONTROLLER


def judge(
    light: Iterable[LightInterval], holdings: Sequence[Holding], *, now_s: float = math.inf, grace_s: float = 0.0
) -> list[Finding]:
    """All that was wrong until `now_s`.

    Light may be on for `grace_s` seconds before and after a job holds its circuits. It is never excused on ports that
    another job holds. A start without light is a fault of the switch where that put the light off within `grace_s`
    before: until then it could have been read back. Times are of the clock of the emulator.
    """
    held = _by_port(holdings)
    seen = list(light)
    found = [*_doubled(holdings, now_s)]
    for interval in seen:
        found += _of_light(interval, held, min(interval.until_s, now_s), grace_s)
    on = defaultdict(list)
    for interval in seen:
        on[interval.switch, interval.a_side, interval.b_side].append(interval)
    for holding in holdings:
        found += _of_job(holding, on, now_s, grace_s)
    return sorted(found, key=lambda each: (each.from_s, each.kind, each.switch, each.a_side, each.b_side))


def _by_port(holdings: Iterable[Holding]) -> dict[Port, list[tuple[Holding, CrossConnect]]]:
    held: dict[Port, list[tuple[Holding, CrossConnect]]] = defaultdict(list)
    for holding in holdings:
        for circuit in holding.circuits:
            switch, *sides = circuit
            for port in sides:
                held[switch, port].append((holding, circuit))
    return held


def _doubled(holdings: Sequence[Holding], now_s: float) -> Iterator[Finding]:
    """Ports that two jobs hold at one time."""
    for (switch, port), held in _by_port(holdings).items():
        for index, (one, circuit) in enumerate(held):
            for other, _ in held[index + 1 :]:
                since, until = max(one.from_s, other.from_s), min(one.until_s, other.until_s, now_s)
                if one.job != other.job and since < until:
                    jobs = tuple(sorted((one.job, other.job)))
                    sides = (port, "") if port == circuit[1] else ("", port)
                    yield Finding(FindingKind.SHARED, switch, *sides, jobs, since, until, CONTROLLER)


def _of_light(
    interval: LightInterval,
    held: dict[Port, list[tuple[Holding, CrossConnect]]],
    until_s: float,
    grace_s: float,
) -> Iterator[Finding]:
    """Light in the parts of time in which who holds its ports stays the same."""
    circuit = (interval.switch, interval.a_side, interval.b_side)
    ends = [held.get((interval.switch, port), []) for port in (interval.a_side, interval.b_side)]
    times = {interval.from_s, until_s}
    for holding, wanted in (*ends[0], *ends[1]):
        margin = grace_s if wanted == circuit else 0.0
        times |= {holding.from_s, holding.until_s, holding.from_s - margin, holding.until_s + margin}
    cuts = sorted(each for each in times if interval.from_s <= each <= until_s)
    for since, until in pairwise(cuts):
        middle = since + (until - since) / 2 if math.isfinite(until) else since + 1.0
        kind, jobs = _verdict(circuit, ends, middle, grace_s)
        if kind is not None:
            yield Finding(kind, *circuit, jobs, since, until, interval.cause)
    if interval.cause == FaultKind.FOREIGN and interval.ended_by == CONTROLLER:
        yield Finding(FindingKind.TAKEN, *circuit, (), until_s, until_s, CONTROLLER)


def _verdict(
    circuit: CrossConnect, ends: Sequence[Sequence[tuple[Holding, CrossConnect]]], at_s: float, grace_s: float
) -> tuple[FindingKind | None, tuple[str, ...]]:
    """What light on this circuit is at one time."""
    holders = [{holding.job: wanted for holding, wanted in end if _holds(holding, at_s)} for end in ends]
    jobs = tuple(sorted({*holders[0], *holders[1]}))
    if any(wanted == circuit for wanted in holders[0].values()):
        return None, jobs
    if jobs:
        return (FindingKind.SHARED if len(jobs) > 1 else FindingKind.WRONG), jobs
    is_excused = any(wanted == circuit and _holds(holding, at_s, grace_s) for holding, wanted in ends[0])
    return (None if is_excused else FindingKind.LEAKED), ()


def _holds(holding: Holding, at_s: float, grace_s: float = 0.0) -> bool:
    return holding.from_s - grace_s <= at_s < holding.until_s + grace_s


def _of_job(
    holding: Holding, on: dict[CrossConnect, list[LightInterval]], now_s: float, grace_s: float
) -> Iterator[Finding]:
    """Whether light passed when it started, and while it ran."""
    if holding.started_s is None:
        return
    end = min(holding.until_s, now_s)
    for circuit in sorted(holding.circuits):
        dark_s, cause = holding.started_s, CONTROLLER
        for interval in sorted(on.get(circuit, []), key=lambda each: each.from_s):
            if dark_s < min(interval.from_s, end):
                yield _without(holding, circuit, dark_s, min(interval.from_s, end), cause)
            if interval.until_s > holding.started_s - grace_s:
                cause = interval.ended_by
            dark_s = max(dark_s, interval.until_s)
        if dark_s < end:
            yield _without(holding, circuit, dark_s, end, cause)


def _without(holding: Holding, circuit: CrossConnect, since_s: float, until_s: float, cause: str) -> Finding:
    kind = FindingKind.EARLY if since_s == holding.started_s else FindingKind.DARK
    return Finding(kind, *circuit, (holding.job,), since_s, until_s, cause)
