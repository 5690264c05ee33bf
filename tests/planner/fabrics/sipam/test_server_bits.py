"""Bits of a server: each unit, port and uplink has one of its own, with its name."""

from planner.fabrics.sipam.free_pool import FreePool
from planner.fabrics.sipam.server_bits import ServerBits, first_bits
from tests.planner.simulate.grounds import cluster


def test_every_part_has_a_bit_and_a_name_of_its_own() -> None:
    pool = FreePool(cluster("sipam"))
    bits, rack = ServerBits(pool.fabric), pool.racks[1]
    free = bits.free_of(rack)
    names = [name for _, name in bits.names(1, free)]
    assert len(set(names)) == len(names) == free.bit_count()
    assert bits.units | bits.ports == bits.memory == free & bits.memory
    for kind, name in bits.names(1, free):
        if kind == "unit":
            assert pool.fabric.parse_unit(name)[0] == 1
        else:
            parse = pool.fabric.parse_tray_port if kind == "port" else pool.fabric.parse_uplink
            assert parse(name)[0] == 1


def test_counts_are_those_of_lists_after_some_were_taken() -> None:
    pool = FreePool(cluster("sipam"))
    bits, rack = ServerBits(pool.fabric), pool.racks[0]
    unit, (rail, *_) = bits.field("unit", tray=0), rack.ports
    free = bits.free_of(rack)
    taken = bits.of_plugs(free, [[(rail, 0, 2)], [(rail, 0, 1)]])
    assert first_bits(free, unit.mask, 3) == taken & unit.mask == 0b111 << unit.first
    del rack.units[0][:3], rack.ports[rail][0][:2]
    assert bits.counts(free ^ taken, rack) == rack.counts
    assert bits.free_of(rack) == free ^ taken
