"""Faces of cubes at optical switches, against coordinates counted one by one."""

from itertools import product

from costmodel.fabrics import Torus
from planner.fabrics.slices.torus_switch_ports import TorusSwitchPorts
from planner.fabrics.switch_ports import End
from planner.model.cluster import Cluster
from tests.fabrics import FABRICS
from tests.planner.integrations.wiring.wiring_cases import planned


def test_faces_are_those_of_the_chips_there() -> None:
    fields = FABRICS["torus"] | {"sides": [2, 3, 4], "racks": 2, "servers": 2}
    fabric = Cluster.model_validate({"device": "h100-sxm", "fabric": fields}).fabric
    assert isinstance(fabric, Torus)
    wanted = set()
    for rack, cube in product(range(2), range(2)):
        for slot, place in enumerate(product(range(2), range(3), range(4))):
            for axis, letter in enumerate("xyz"):
                across = [position for i, position in enumerate(place) if i != axis]
                extents = [side for i, side in enumerate((2, 3, 4)) if i != axis]
                switch = f"r{rack}.{letter}{across[0] * extents[1] + across[1]}"
                chip = f"r{rack}.s{cube}.c{slot}"
                if place[axis] == (2, 3, 4)[axis] - 1:
                    wanted.add(End(switch, f"{chip}:+{letter}", "input"))
                if place[axis] == 0:
                    wanted.add(End(switch, f"{chip}:-{letter}", "output"))
    found = list(TorusSwitchPorts().ends(fabric))
    assert set(found) == wanted
    assert len(found) == len(wanted)


def test_slices_join_faces_that_are_plugged_in() -> None:
    instance, plan = planned("torus")
    known = set(TorusSwitchPorts().ends(instance.cluster.fabric))
    states = TorusSwitchPorts().states(instance, plan.assignments)
    assert states
    for state in states:
        for source, sink in state.connections:
            assert End(state.switch, source, "input") in known
            assert End(state.switch, sink, "output") in known
