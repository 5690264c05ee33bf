"""How ports go from blocked over tuning to light, and what holds them back."""

import random

import pytest

from planner.integrations.switch_emulator import FaultKind, FaultRate, RequestClass
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


@pytest.mark.parametrize("seed", range(6))
def test_whatever_happens_a_port_has_one_light_and_tables_tell_it(seed: int) -> None:
    kinds = (FaultKind.HALF, FaultKind.LIE, FaultKind.DROP, FaultKind.CHANGE, FaultKind.FOREIGN, FaultKind.RESTART)
    made = rig(*(FaultRate(RequestClass.BULK, kind, 0.05) for kind in kinds), seed=seed)
    chance = random.Random(seed)
    names = [f"{a}A-{b}B" for a in range(1, 5) for b in range(1, 5)]
    for _ in range(60):
        made.bulk(chance.sample(names, chance.randrange(6)), chance.sample(names, chance.randrange(4)))
        word = chance.choice(("normal", "normal", "force_blocked", "powered_off"))
        port = f"{TABLES}/OCS_PORT/OCS_PORT_LIST={chance.randrange(1, 5)}{chance.choice('AB')}/config_status"
        made.ask("PUT", port, {"sonic-ocs:config_status": word})
        made.clock.now_s += 1.0
        lit = [(each.a_side, each.b_side) for each in made.emulator.light() if each.is_on]
        assert len({port for sides in lit for port in sides}) == 2 * len(lit)
        targets, states = made.ports("target_simplex_port_id"), made.ports()
        assert all(targets[other] == port for port, other in targets.items())
        ends = {(a, b) for a, b in targets.items() if a.endswith("A") and states[a] == states[b] == "connected"}
        assert ends == set(lit)
        assert sum(state == "enabled" for state in made.states().values()) == len(lit)
