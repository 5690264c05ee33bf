"""What switches do by themselves."""

from planner.integrations.switch_emulator import FaultKind, RequestClass
from planner.integrations.switch_emulator.emulator import BOOT_S
from tests.planner.integrations.switch_emulator.switches import ALL, SETTLING_S, before_fault, names


def test_a_restart_leaves_an_empty_table() -> None:
    made = before_fault(RequestClass.READ, FaultKind.RESTART)
    assert made.said("GET", "/restconf/data")[0] == 503
    assert made.bulk(add=["1A-1B"])[0] == 503, "it starts"
    made.clock.now_s += BOOT_S
    assert made.rows("OCS_CROSS_CONNECT") == []
    assert set(made.ports().values()) == {"blocked"}
    assert not any(each.is_on for each in made.emulator.light())


def test_a_circuit_goes_from_all_tables_or_from_the_hardware() -> None:
    left = set()
    for seed in range(8):
        made = before_fault(RequestClass.READ, FaultKind.DROP, seed)
        left.add((len(names(made)), len(made.states()), sum(each.is_on for each in made.emulator.light())))
    assert left == {(2, 2, 2), (3, 3, 2)}


def test_a_circuit_leads_elsewhere_while_its_configuration_stays() -> None:
    made = before_fault(RequestClass.READ, FaultKind.CHANGE)
    before = made.rows("OCS_CROSS_CONNECT")
    assert [row["cross_connect_id"] for row in before] == ALL
    made.settle()
    assert sum(a[:-1] != b[:-1] for a, b in made.ports("target_simplex_port_id").items()) == 2
    assert {each.cause for each in made.emulator.light() if each.is_on} == {"request", "change"}


def test_a_foreign_circuit_appears() -> None:
    made = before_fault(RequestClass.READ, FaultKind.FOREIGN)
    assert names(made) - set(ALL) == {"4A-4B"}
    assert [each.what for each in made.emulator.happened] == ["4A-4B appears"]


def test_a_port_never_tunes() -> None:
    made = before_fault(RequestClass.READ, FaultKind.UNTUNED, seed=3)
    made.rows("OCS_PORT")
    (port,) = made.emulator.switches["ocs0"].hardware.stuck
    made.bulk(delete=ALL, add=[f"{port[:-1]}A-{port[:-1]}B"])
    made.clock.now_s += 1000 * SETTLING_S
    assert made.ports()[port] == "tuning"
