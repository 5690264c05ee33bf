"""Memory circuits that ranks of a server get beside those that they have: found exactly where there are some."""

from collections.abc import Iterator
from itertools import chain, combinations, product
from random import Random

import pytest

from planner.fabrics.sipam.added_plugs import AddedPlugs, NewPlug, RankLack, ShutRails
from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.server_pool import FreeCounts
from planner.model.plan import MemoryCircuit

PORT_UNITS = 2


def ways(lack: RankLack, free: FreeCounts, shut: ShutRails) -> Iterator[list[NewPlug]]:
    """All ways to plug one rank into so much."""
    rails = [rail for rail in free.ports if rail not in lack.rails]
    for own in combinations(rails, lack.circuits):
        for staying in combinations(own, lack.staying):
            for trays, counts in product(
                product(range(len(free.units)), repeat=len(own)), product((1, PORT_UNITS), repeat=len(own))
            ):
                found = [NewPlug(*each, each[0] in staying) for each in zip(own, trays, counts, strict=True)]
                kept = sum(plug.units for plug in found if plug.stays)
                wrong = any(plug.rail in shut.rails[0] or (plug.stays and plug.rail in shut.rails[1]) for plug in found)
                if not wrong and sum(counts) == lack.units and kept >= lack.least:
                    yield found


def fits(plugs: list[NewPlug], free: FreeCounts, shut: ShutRails) -> bool:
    """Whether units, ports and rails suffice for all of these."""
    units = all(sum(p.units for p in plugs if p.tray == t) <= most for t, most in enumerate(free.units))
    ports = all(
        sum((p.rail, p.tray) == (rail, tray) for p in plugs) <= most
        for rail, trays in free.ports.items()
        for tray, most in enumerate(trays)
    )
    every, staying = {p.rail for p in plugs}, {p.rail for p in plugs if p.stays}
    return units and ports and len(every) <= shut.most[0] and len(staying) <= shut.most[1]


@pytest.mark.parametrize("seed", range(60))
def test_plugs_are_found_exactly_where_some_fit(seed: int) -> None:
    random = Random(seed)
    units = [random.randint(0, 4) for _ in range(2)]
    free = FreeCounts(units, {rail: [random.randint(0, 1) for _ in units] for rail in range(3)}, 0)
    shut = ShutRails(
        (frozenset(random.sample(range(3), random.randint(0, 1))), frozenset(random.sample(range(3), 1))),
        (random.randint(2, 3), random.randint(1, 3)),
    )
    lacks = list[RankLack]()
    for _ in range(random.randint(1, 3)):
        staying, others = random.choice(((1, 0), (0, 1), (1, 1), (2, 0), (0, 0)))
        more = staying + others
        lacks.append(RankLack(frozenset(), staying, others, random.randint(more, 2 * more), random.randint(0, staying)))
    found = AddedPlugs(free, lacks, PORT_UNITS, shut, (frozenset(), frozenset())).found()
    each = [list(ways(lack, free, shut)) for lack in lacks]
    assert (found is not None) == any(fits([*chain(*way)], free, shut) for way in product(*each))
    if found is not None:
        assert fits([*chain(*found)], free, shut)
        assert all(sorted(own) in map(sorted, options) for own, options in zip(found, each, strict=True))


def plug(rail: int, units: int, phase: str | None = None) -> MemoryCircuit:
    names = tuple(f"s0.m0.u{number}" for number in range(units))
    return MemoryCircuit(device="s0.a0", rail=rail, port=f"s0.m0.q{rail}#0", units=names, phase=phase)


def test_what_a_rank_lacks_is_what_it_has_less_than_asked() -> None:
    asked = PoolDemand(units=5, memory_io=3, across=0, inside=0, uplinks=0)
    lack = RankLack.of(asked, "", [plug(0, 2), plug(1, 1)], PORT_UNITS)
    assert lack == RankLack(frozenset({0, 1}), 1, 0, 2, 2)
    whole = RankLack.of(asked, "", [plug(0, 2), plug(1, 2), plug(2, 1)], PORT_UNITS)
    assert whole == RankLack(frozenset({0, 1, 2}), 0, 0, 0, 0)
    assert RankLack.of(asked, "", [plug(0, 1), plug(1, 1)], PORT_UNITS) is None, "a port has at most two units"
    assert RankLack.of(asked, "", [plug(0, 2), plug(1, 2), plug(2, 2)], PORT_UNITS) is None, "it has more than asked"
    assert RankLack.of(asked, "", [plug(0, 2, "prefill")], PORT_UNITS) is None, "it is off in some phase"


def test_what_is_on_in_one_phase_alone_stays_so() -> None:
    first, last = (PoolDemand(units, io, across=0, inside=0, uplinks=0) for units, io in ((2, 1), (4, 2)))
    asked = PoolDemand(4, 2, across=0, inside=0, uplinks=0, phases=(first, last))
    always, decode = plug(0, 2), plug(1, 2, "decode")
    assert RankLack.of(asked, "decode", [always], PORT_UNITS) == RankLack(frozenset({0}), 0, 1, 2, 0)
    assert RankLack.of(asked, "decode", [decode], PORT_UNITS) == RankLack(frozenset({1}), 1, 0, 2, 2)
    assert RankLack.of(asked, "decode", [always, plug(1, 2)], PORT_UNITS) is None
