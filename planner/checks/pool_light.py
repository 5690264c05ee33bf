"""Optical switches of pooled racks: their states, and the light traced through them from every I/O to its end."""

from collections import Counter
from collections.abc import Iterator, Mapping

from costmodel.fabrics import Sipam
from planner.checks.names import admitted, tile_of
from planner.checks.pool_parts import PoolParts
from planner.checks.violation import Violation
from planner.instance import Instance
from planner.plan import Circuit, HeldCircuits, MemoryCircuit, Plan, SwitchState

States = dict[str, dict[str, str]]
"""output by input of each switch"""


def check_pool_light(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Every switch is a partial matching within its radix, light ends where circuits say, and no switch does more."""
    fabric = instance.cluster.fabric
    if not isinstance(fabric, Sipam):
        if plan.switches is not None:
            yield Violation("pool_light", "switches", f"a {fabric.kind} has no such switches")
        return
    if plan.switches is None:
        yield Violation("pool_light", "switches", "the plan does not state its switches")
        return
    parts = PoolParts(instance.cluster, fabric)
    before = [(r.circuits, r.memory) for r in instance.residents]
    after = [(a.circuits, a.memory) for _, a in admitted(instance, plan)]
    for label, states, jobs in (("before", plan.switches.before, before), ("after", plan.switches.after, after)):
        yield from _check_matchings(parts, states, label)
        joined = {state.switch: dict(state.connections) for state in states}
        needed = Counter[str]()
        for circuits, memory in jobs:
            yield from _check_job(parts, circuits, memory, joined, needed, label)
        for switch, pairs in joined.items():
            excess = len(pairs) - needed[switch]
            if excess > 0:
                message = f"{label}: {switch} has {excess} connections that no circuit needs"
                yield Violation("pool_light", switch, message, float(excess))
    changes = {*plan.switches.before} != {*plan.switches.after}
    expected = fabric.reconfiguration_s if changes else 0.0
    if abs(plan.switches.time_s - expected) > 1e-12:
        message = f"switches take {expected:g} s to set, not {plan.switches.time_s:g} s"
        yield Violation("pool_light", "switches", message, abs(plan.switches.time_s - expected))


def _check_matchings(parts: PoolParts, states: tuple[SwitchState, ...], label: str) -> Iterator[Violation]:
    """One state for each switch; each input and each output once; no more ports than there are."""
    for switch, count in Counter(state.switch for state in states).items():
        if count > 1:
            yield Violation("pool_light", switch, f"{label}: {switch} has {count} states", count - 1.0)
    for state in states:
        for side, ports in (
            ("inputs", [a for a, _ in state.connections]),
            ("outputs", [b for _, b in state.connections]),
        ):
            twice = len(ports) - len(set(ports))
            if twice:
                message = f"{label}: {state.switch} connects {twice} of its {side} twice"
                yield Violation("pool_light", state.switch, message, float(twice))
            excess = len(set(ports)) - parts.fabric.switch_ports
            if excess > 0:
                message = f"{label}: {state.switch} has {parts.fabric.switch_ports} ports, {len(set(ports))} are used"
                yield Violation("pool_light", state.switch, message, float(excess))


def _check_job(
    parts: PoolParts,
    circuits: tuple[HeldCircuits, ...],
    memory: tuple[MemoryCircuit, ...],
    joined: Mapping[str, Mapping[str, str]],
    needed: Counter[str],
    label: str,
) -> Iterator[Violation]:
    """Light of each I/O, traced to the other end; `needed` counts the connections on the way."""
    for plug in memory:
        tile = tile_of(parts.fabric, plug.device)
        if tile is None:
            continue
        switch = parts.server_switch(tile[0], plug.rail)
        needed[switch] += 2
        for source, destination in ((plug.device, plug.port), (plug.port, plug.device)):
            end = joined.get(switch, {}).get(source)
            if end != destination:
                message = f"{label}: light of {source} on {switch} ends at {end}, not {destination}"
                yield Violation("pool_light", f"{source} {switch}", message)
    for circuit in (circuit for held in circuits for circuit in held.circuits):
        for rail in circuit.wavelengths:
            end = _trace(parts, circuit, rail, joined, needed)
            if end != circuit.destination:
                message = f"{label}: light of {circuit.source} on rail {rail} ends at {end}, not {circuit.destination}"
                yield Violation("pool_light", f"{circuit.source} rail {rail}", message)


def _trace(
    parts: PoolParts, circuit: Circuit, rail: int, joined: Mapping[str, Mapping[str, str]], needed: Counter[str]
) -> str | None:
    """Where the light of the source on a rail ends; None where a switch leaves it dark."""
    tiles = [tile_of(parts.fabric, name) for name in (circuit.source, circuit.destination)]
    if tiles[0] is None or tiles[1] is None:
        return None
    here = tiles[0][0]
    first = parts.server_switch(here, rail)
    needed[first] += 1
    if here == tiles[1][0]:
        return joined.get(first, {}).get(circuit.source)
    zone, last = parts.zone_switch(here, rail), parts.server_switch(tiles[1][0], rail)
    needed.update([zone, last])
    out = joined.get(first, {}).get(circuit.source, "")
    entered = joined.get(zone, {}).get(out, "") if parts.uplink(out) else ""
    arrives = parts.uplink(entered)
    if arrives is None or arrives[:2] != (tiles[1][0], rail):
        return entered or out or None
    return joined.get(last, {}).get(entered)
