"""Every accelerator of a rail has a port, in and out, into each switch of it, in the order of servers."""

from planner.fabrics.ocs_rail.switch_ports import RailSwitchPorts
from planner.fabrics.switch_ports import End
from planner.model.cluster import Cluster
from tests.fabrics import FABRICS
from tests.planner.integrations.wiring.wiring_cases import planned


def test_ports_are_those_of_the_rail() -> None:
    fabric = Cluster.model_validate({"device": "h100-sxm", "fabric": FABRICS["ocs_rail"]}).fabric
    of_switch = [end for end in RailSwitchPorts().ends(fabric) if end.switch == "q3#1"]
    servers = range(fabric.num_servers)
    assert of_switch == [End("q3#1", f"s{s}.g3", direction) for s in servers for direction in ("input", "output")]


def test_circuits_go_through_switches_of_their_rail() -> None:
    instance, plan = planned("ocs_rail")
    states = RailSwitchPorts().states(instance, plan.assignments)
    assert states
    for state in states:
        rail = state.switch.removeprefix("q").partition("#")[0]
        assert {name.rpartition("g")[2] for pair in state.connections for name in pair} == {rail}
