"""Optical switches of pooled racks: their states, and the light traced through them from every I/O to its end."""

from collections import ChainMap, Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence

from costmodel.fabrics import Sipam
from planner.checks.names import admitted
from planner.checks.phases import in_phases
from planner.fabrics.sipam.rule_parts import PoolParts
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment, PhaseChange, Plan, SwitchSetting, SwitchState
from planner.model.resident_plan import assignment_of
from planner.model.violation import Violation

Connections = defaultdict[str, set[tuple[str, str]]]
"""(input, output) of each switch"""
Phases = tuple[Job, list[Assignment]]
"""a job in its first and in its last phase"""


def check_pool_light(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Every switch is a partial matching within its radix, light ends where circuits say, and no switch does more:
    before the plan, after it, and whichever jobs have gone to another phase."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Sipam)
    if plan.switches is None:
        yield Violation("pool_light", "switches", "the plan does not state its switches")
        return
    parts = PoolParts(instance.cluster, fabric)
    before = [(resident, in_phases(resident, assignment_of(resident))) for resident in instance.residents]
    after = [(job, in_phases(job, assignment)) for job, assignment in admitted(instance, plan)]
    for label, states, jobs in (("before", plan.switches.before, before), ("after", plan.switches.after, after)):
        yield from _check_repeated(states, label)
        yield from _check_states(parts, _joined(states), [phases[0] for _, phases in jobs], label)
    yield from _check_phases(parts, plan.switches, after)
    changes = {*plan.switches.before} != {*plan.switches.after}
    yield from _check_time(plan.switches.time_s, fabric.reconfiguration_s if changes else 0.0, "switches")


def _check_time(stated_s: float, expected_s: float, where: str) -> Iterator[Violation]:
    if abs(stated_s - expected_s) > 1e-12:
        message = f"{where}: switches take {expected_s:g} s to set, not {stated_s:g} s"
        yield Violation("pool_light", where, message, abs(stated_s - expected_s))


def _check_phases(parts: PoolParts, switches: SwitchSetting, jobs: Sequence[Phases]) -> Iterator[Violation]:
    """Jobs go to another phase each by itself. Two connections of one port belong to two jobs, each in its first or in
    its last phase: they meet after the start, or where one job has changed, or where all have."""
    changes = {change.job: change for change in switches.phases}
    changing = [(job, phases) for job, phases in jobs if len(phases) > 1]
    if Counter(change.job for change in switches.phases) != Counter(job.name for job, _ in changing):
        message = f"changes between phases are needed of {', '.join(job.name for job, _ in changing) or 'no job'}"
        yield Violation("pool_light", "phases", message)
        return
    start, all_changed = _joined(switches.after), _joined(switches.after)
    ends: MutableMapping[str, Mapping[str, str]] = {**_ends(start)}
    for job, phases in changing:
        change = changes[job.name]
        touched = {state.switch for state in (*change.undone, *change.made)}
        alone = defaultdict(set, {switch: {*start[switch]} for switch in touched})
        if change.phase != job.workload.phases[-1]:
            yield Violation("pool_light", job.name, f"{job.name}: there is no change to {change.phase}")
        yield from _check_time(change.time_s, parts.fabric.reconfiguration_s, job.name)
        yield from _check_change(start, all_changed, change)
        for states in (alone, all_changed):
            _apply(states, change)
        label = f"{job.name} in {change.phase}"
        yield from _check_matchings(parts, {state.switch: alone[state.switch] for state in change.made}, label)
        yield from _traced(parts, ChainMap({**_ends(alone)}, ends), phases[-1], Counter[str](), label)
    if changing:
        yield from _check_states(parts, all_changed, [phases[-1] for _, phases in jobs], "all changed")


def _check_change(start: Connections, now: Connections, change: PhaseChange) -> Iterator[Violation]:
    """A connection that is undone was there and no other job has undone it; one that is made was not there."""
    for word, some, was_on in (("undoes", change.undone, True), ("makes", change.made, False)):
        pairs = [(state.switch, pair) for state in some for pair in state.connections]
        wrong = [pair for switch, pair in pairs for states in (start, now) if (pair in states[switch]) != was_on]
        if wrong:
            message = f"{change.job}: {word} {wrong[0][0]} to {wrong[0][1]}, which {'was not' if was_on else 'was'} on"
            yield Violation("pool_light", change.job, message, float(len(wrong)))


def _apply(states: Connections, change: PhaseChange) -> None:
    for state in change.undone:
        states[state.switch].difference_update(state.connections)
    for state in change.made:
        states[state.switch].update(state.connections)


def _joined(states: Iterable[SwitchState]) -> Connections:
    return defaultdict(set, {state.switch: set(state.connections) for state in states})


def _ends(states: Mapping[str, set[tuple[str, str]]]) -> dict[str, dict[str, str]]:
    """Output by input of each switch."""
    return {switch: dict(sorted(pairs)) for switch, pairs in states.items()}


def _check_repeated(states: Sequence[SwitchState], label: str) -> Iterator[Violation]:
    """One state for each switch, each connection in it once."""
    for switch, count in Counter(state.switch for state in states).items():
        if count > 1:
            yield Violation("pool_light", switch, f"{label}: {switch} has {count} states", count - 1.0)
    for state in states:
        twice = len(state.connections) - len({*state.connections})
        if twice:
            message = f"{label}: {state.switch} states {twice} of its connections twice"
            yield Violation("pool_light", state.switch, message, float(twice))


def _check_states(parts: PoolParts, states: Connections, jobs: Sequence[Assignment], label: str) -> Iterator[Violation]:
    """Matchings over which the light of all jobs ends where it should, without connections that none needs."""
    yield from _check_matchings(parts, states, label)
    ends, needed = _ends(states), Counter[str]()
    for each in jobs:
        yield from _traced(parts, ends, each, needed, label)
    for switch, pairs in states.items():
        excess = len(pairs) - needed[switch]
        if excess > 0:
            message = f"{label}: {switch} has {excess} connections that no circuit needs"
            yield Violation("pool_light", switch, message, float(excess))


def _check_matchings(parts: PoolParts, states: Mapping[str, set[tuple[str, str]]], label: str) -> Iterator[Violation]:
    """Each input and each output once, all of them ports of the switch; no more ports than there are."""
    for switch, pairs in states.items():
        of_switch = parts.ports_of(switch)
        for side, ports in (("inputs", [a for a, _ in pairs]), ("outputs", [b for _, b in pairs])):
            twice = len(ports) - len(set(ports))
            if twice:
                message = f"{label}: {switch} connects {twice} of its {side} twice"
                yield Violation("pool_light", switch, message, float(twice))
            strange = sorted(port for port in set(ports) if port not in of_switch)
            if strange:
                message = f"{label}: {strange[0]} is no port of {switch}"
                yield Violation("pool_light", switch, message, float(len(strange)))
            excess = len(set(ports)) - parts.fabric.switch_ports
            if excess > 0:
                message = f"{label}: {switch} has {parts.fabric.switch_ports} ports, {len(set(ports))} are used"
                yield Violation("pool_light", switch, message, float(excess))


def _traced(
    parts: PoolParts,
    joined: Mapping[str, Mapping[str, str]],
    assignment: Assignment,
    needed: Counter[str],
    label: str,
) -> Iterator[Violation]:
    """Light of each I/O of a job, traced to the other end; `needed` counts the connections on the way."""
    for plug in assignment.memory:
        server = parts.servers[plug.device]
        if server is None:
            continue
        switch = parts.server_switch(server, plug.rail)
        needed[switch] += 2
        pairs = joined.get(switch, {})
        for source, destination in ((plug.device, plug.port), (plug.port, plug.device)):
            end = pairs.get(source)
            if end != destination:
                message = f"{label}: light of {source} on {switch} ends at {end}, not {destination}"
                yield Violation("pool_light", f"{source} {switch}", message)
    for circuit in (circuit for held in assignment.circuits for circuit in held.circuits):
        source, destination = circuit.source, circuit.destination
        here, there = parts.servers[source], parts.servers[destination]
        for rail in circuit.wavelengths:
            end = None if here is None or there is None else _trace(parts, source, (here, there), rail, joined, needed)
            if end != destination:
                message = f"{label}: light of {source} on rail {rail} ends at {end}, not {destination}"
                yield Violation("pool_light", f"{source} rail {rail}", message)


def _trace(
    parts: PoolParts,
    source: str,
    servers: tuple[int, int],
    rail: int,
    joined: Mapping[str, Mapping[str, str]],
    needed: Counter[str],
) -> str | None:
    """Where the light of a source on a rail from one server to another ends; None where it does not get on."""
    here, there = servers
    first = parts.server_switch(here, rail)
    needed[first] += 1
    if here == there:
        return joined.get(first, {}).get(source)
    zone, last = parts.zone_switch(here, rail), parts.server_switch(there, rail)
    needed[zone] += 1
    needed[last] += 1
    out = joined.get(first, {}).get(source)
    if out is None or out not in parts.ports_of(zone):
        return None
    entered = joined.get(zone, {}).get(out)
    if entered is None or entered not in parts.ports_of(last):
        return None
    return joined.get(last, {}).get(entered)
