"""The wiring of one server's pool in two phases, against enumeration."""

from random import Random

import pytest

from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.free_pool import FreePool, stay_on
from planner.fabrics.sipam.server_pool import FreeServer
from planner.fabrics.sipam.step2 import Part, wire
from planner.formulation.step_two import StepTwoLimits
from tests.oracles.pool_search import Mode, Server, Setting, wires
from tests.oracles.tiny_pools import tiny_pool


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_wiring_of_two_phases_is_what_enumeration_says(seed: int) -> None:
    """Racks with few ports: which circuits stay on in the phase with less memory is chosen together with all rails."""
    rng = Random(seed)
    rails, trays, spine, port_units = rng.choice((3, 4)), rng.choice((1, 2)), rng.choice((0, 0, 1)), rng.choice((1, 2))
    ports = [[rng.randint(1, 3) for _ in range(trays)] for _ in range(rails)]
    units = [rng.randint(2, 6) for _ in range(trays)]
    rack = FreeServer(
        [[*range(number)] for number in units],
        {rail: [[*range(number)] for number in ports[rail]] for rail in range(rails)},
        tuple(range(rails, rails + spine)),
        {},
    )
    server = Server(9, tuple(units), tuple(map(tuple, ports)), frozenset(rack.spine), ())
    parts, here = {}, []
    for job in range(rng.choice((1, 1, 2))):
        phases = []
        for io in sorted(rng.choices(range(1, rails + 1), k=2)):
            number = rng.randint((io - 1) * port_units + 1, io * port_units)
            phases.append(Setting(number, io, 0, rng.randint(0, rails + spine - io)))
        if phases[0].memory_io == phases[1].memory_io:
            phases[0] = Setting(phases[1].units, phases[1].memory_io, 0, phases[0].inside)
        demands = [PoolDemand(p.units, p.memory_io, 0, p.inside, 0) for p in phases]
        most, inside = phases[1], max(p.inside for p in phases)
        ranks = rng.choice((1, 2))
        order = tuple(demands if rng.random() < 0.5 else demands[::-1])
        parts[job] = Part(PoolDemand(most.units, most.memory_io, 0, inside, 0, order), ranks)
        here.append((Mode(ranks, 1, 0, tuple(phases)), ranks))
    limits = StepTwoLimits(time_limit_s=10.0, deterministic_limit=None, workers=1, seed=0)
    found = wire(rack, parts, port_units, limits).found
    assert (found is not None) == wires(server, tuple(here), port_units)
    for job, part in parts.items() if found is not None else ():
        assert all(
            stay_on(plugs, len(rack.spine), part.demand, found[job].kept) is not None for plugs in found[job].plugs
        )
    if len(parts) == 1:
        by_hand = FreePool.__new__(FreePool)
        by_hand.fabric, by_hand.racks = tiny_pool(0).cluster.fabric, [rack]  # type: ignore[assignment]
        first = by_hand.wires(parts[0].demand, {0: [(0, rank) for rank in range(parts[0].num_ranks)]})
        assert first is None or port_units != by_hand.fabric.port_units or found is not None
