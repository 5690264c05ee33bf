"""Every connection of pooled racks ends in ports that are there."""

from planner.fabrics import plugin_of
from planner.fabrics.switch_ports import End
from tests.planner.fabrics.sipam.joined_pools import joined_pools, plan_of
from tests.planner.integrations.wiring.wiring_cases import planned


def test_what_a_plan_joins_is_plugged_in() -> None:
    instance, plan = planned("sipam")
    ports = plugin_of(instance.cluster.fabric).switch_ports
    known = set(ports.ends(instance.cluster.fabric))
    states = ports.states(instance, plan.assignments)
    assert states == (plan.switches.after if plan.switches is not None else None)
    for state in states:
        for source, sink in state.connections:
            assert End(state.switch, source, "input") in known
            assert End(state.switch, sink, "output") in known
    kinds = {name.split(".")[-1][0] for state in states for pair in state.connections for name in pair}
    assert len(kinds) > 1, "accelerators and ports of trays"


def test_switches_above_racks_are_told_beside_those_inside() -> None:
    instance, plan = joined_pools(8), plan_of(8)
    ports = plugin_of(instance.cluster.fabric).switch_ports
    known, states = {*ports.ends(instance.cluster.fabric)}, ports.states(instance, plan.assignments)
    assert states[0].switch == "u0"
    assert len(states[0].connections) == len(plan.assignments[0].upper) > 0
    assert plan.switches is not None
    assert states[1:] == plan.switches.after
    for state in states:
        for source, sink in state.connections:
            assert {End(state.switch, source, "input"), End(state.switch, sink, "output")} <= known
