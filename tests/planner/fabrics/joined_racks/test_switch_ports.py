"""Switches above racks, as cables."""

from planner.fabrics import plugin_of
from planner.fabrics.switch_ports import End
from tests.planner.fabrics.joined_racks.racks import FIBERS, SWITCHES, best, racks


def test_circuits_join_ports_that_are_plugged_in() -> None:
    instance = racks(SWITCHES | {"radix": 3}, 8)
    ports, plan = plugin_of(instance.cluster.fabric).switch_ports, best(instance)
    ends = [*ports.ends(instance.cluster.fabric)]
    assert ends[:2] == [End("u0", "r0.p0", "input"), End("u0", "r0.p0", "output")]
    assert len(ends) == len({*ends}) == 12
    states = ports.states(instance, plan.assignments)
    assert [state.switch for state in states] == ["u0", "u1"]
    joined = {
        (state.switch, end, side)
        for state in states
        for pair in state.connections
        for end, side in zip(pair, ("input", "output"), strict=True)
    }
    assert joined <= {(end.switch, end.end, end.direction) for end in ends}
    assert len(joined) == 8


def test_fibers_are_plugged_into_no_switch() -> None:
    instance = racks(FIBERS, 8)
    ports = plugin_of(instance.cluster.fabric).switch_ports
    assert [*ports.ends(instance.cluster.fabric)] == []
    assert ports.states(instance, best(instance).assignments) == ()
