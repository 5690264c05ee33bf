"""What is plugged into switches, on every fabric."""

import pytest

from planner.fabrics import plugin_of
from planner.fabrics.switch_ports import SwitchPorts, states_of
from planner.model.cluster import Cluster
from planner.model.plan import SwitchState
from tests.fabrics import FABRICS


@pytest.mark.parametrize("kind", sorted(FABRICS))
def test_every_switch_has_ends_and_no_end_twice(kind: str) -> None:
    fabric = Cluster.model_validate({"device": "h100-sxm", "fabric": FABRICS[kind]}).fabric
    ports = plugin_of(fabric).switch_ports
    ends = list(ports.ends(fabric))
    if type(ports) is SwitchPorts:
        assert ends == []
        return
    assert list(dict.fromkeys(end.switch for end in ends)) == list(fabric.switch_names)
    assert len(set(ends)) == len(ends)


def test_states_are_sorted_by_switch_and_connection() -> None:
    found = states_of([("q1", "b", "a"), ("q0", "x", "y"), ("q1", "a", "b")])
    assert found == (
        SwitchState(switch="q0", connections=(("x", "y"),)),
        SwitchState(switch="q1", connections=(("a", "b"), ("b", "a"))),
    )
