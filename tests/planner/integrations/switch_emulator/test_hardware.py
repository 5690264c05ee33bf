"""How ports go from blocked over tuning to light, and what holds them back."""

import pytest

from planner.integrations.switch_emulator.node_tree import VOCABULARIES
from planner.integrations.switch_emulator.optics import BLOCKED_SHARE
from tests.planner.integrations.switch_emulator.switches import SETTLING_S, TABLES, rig


@pytest.mark.parametrize(("name", "lit"), [("oper_status", "connected"), ("state", "tuned"), ("status", "tuned")])
def test_ports_are_blocked_then_tune_then_pass_light(name: str, lit: str) -> None:
    made = rig(vocabulary=name)
    made.bulk(add=["1A-2B"])
    seen = []
    for part in (0.0, BLOCKED_SHARE * 1.01, 1.0):
        made.clock.now_s = 100.0 + part * SETTLING_S
        ports = made.ports(name)
        assert ports["1A"] == ports["2B"]
        assert made.ports("target_simplex_port_id") == {"1A": "2B", "2B": "1A"}, "at once"
        seen.append((ports["1A"], made.states()["1A-2B"]))
    assert seen == [("blocked", "disabled"), ("tuning", "enabled"), (lit, "enabled")]
    assert VOCABULARIES[name].lit == lit


def test_a_forced_port_is_dark_alone_and_tunes_again() -> None:
    made = rig()
    made.bulk(add=["1A-2B"])
    made.settle()
    port = f"{TABLES}/OCS_PORT/OCS_PORT_LIST=1A/config_status"
    assert made.said("PUT", port, {"sonic-ocs:config_status": "force_blocked"}) == (204, None)
    made.settle()
    ports = made.ports()
    assert (ports["1A"], ports["2B"]) == ("blocked", "connected"), "the other end does not know"
    assert made.states() == {"1A-2B": "disabled"}
    assert made.said("DELETE", port) == (204, None)
    assert made.ports()["1A"] == "blocked"
    made.settle()
    assert made.ports()["1A"] == "connected"
    assert [each.is_on for each in made.emulator.light()] == [False, True]
