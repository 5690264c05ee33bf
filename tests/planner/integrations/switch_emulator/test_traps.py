"""The summary of conflict behavior of the platform guide, case by case, over RESTCONF."""

import pytest

from planner.integrations.switch_emulator.traps import OUTCOMES, AddCase, NewCircuit, OldCircuit
from tests.planner.integrations.switch_emulator.switches import TABLES, Rig, entry, rig


@pytest.fixture
def full() -> Rig:
    """1A-4B, 2A-3B, 3A-2B, 4A-1B, tuned."""
    made = rig()
    made.bulk(add=["1A-4B", "2A-3B", "3A-2B", "4A-1B"])
    made.settle()
    assert set(made.states().values()) == {"enabled"}
    return made


def test_every_case_has_an_outcome() -> None:
    cases = [AddCase(known, busy, forced) for known in (0, 1) for busy in (0, 1) for forced in (0, 1)]  # type: ignore[arg-type]
    assert set(OUTCOMES) == set(cases)
    assert {new for case, (new, _) in OUTCOMES.items() if case.is_known} == {NewCircuit.SKIPPED}
    assert [case for case, (_, old) in OUTCOMES.items() if old is OldCircuit.INVALID] == [AddCase(False, True, True)]


def test_one_add_on_a_busy_port_is_invalid_itself(full: Rig) -> None:
    assert full.bulk(add=["1A-1B"]) == (200, {"sonic-ocs:output": {"deleted_count": 0, "added_count": 1}})
    full.settle()
    assert full.states() == {
        "1A-4B": "enabled", "2A-3B": "enabled", "3A-2B": "enabled", "4A-1B": "enabled", "1A-1B": "invalid",
    }  # fmt: skip
    assert full.ports("target_simplex_port_id")["1A"] == "4B"


def test_two_adds_force_and_old_ones_stay_invalid_until_deleted(full: Rig) -> None:
    assert full.bulk(add=["1A-1B", "2A-2B"])[1]["sonic-ocs:output"] == {"deleted_count": 0, "added_count": 2}
    full.settle()
    old = dict.fromkeys(("1A-4B", "2A-3B", "3A-2B", "4A-1B"), "invalid")
    assert full.states() == old | {"1A-1B": "enabled", "2A-2B": "enabled"}
    assert full.ports()["4B"] == "blocked", "parked"
    assert full.bulk(add=["1A-4B"])[1]["sonic-ocs:output"]["added_count"] == 1, "told, and not done"
    full.bulk(delete=["1A-1B"])
    full.settle()
    assert full.states()["1A-4B"] == "invalid", "its ports are free, and it stays so"
    full.bulk(delete=["1A-4B"], add=["1A-4B"])
    full.settle()
    assert full.states()["1A-4B"] == "enabled"


def test_a_known_name_with_other_ports_changes_the_configuration_alone(full: Rig) -> None:
    full.bulk(delete=["4A-1B"])
    moved = {"cross_connect_id": "1A-4B", "a_side": "1A", "b_side": "1B"}
    path = f"{TABLES}/OCS_CROSS_CONNECT/OCS_CROSS_CONNECT_LIST=1A-4B"
    assert full.said("PUT", path, {"sonic-ocs:OCS_CROSS_CONNECT_LIST": [moved]}) == (204, None)
    assert full.said("GET", path)[1] == {"sonic-ocs:OCS_CROSS_CONNECT_LIST": [moved]}
    assert full.ports("target_simplex_port_id")["1A"] == "4B"


def test_deletes_go_before_adds_in_one_transaction(full: Rig) -> None:
    output = full.bulk(delete=["1A-4B", "2A-3B", "9A-9B"], add=["1A-3B", "2A-4B"])[1]["sonic-ocs:output"]
    assert output == {"deleted_count": 2, "added_count": 2}, "names that are not there are passed over"
    full.settle()
    assert set(full.states().values()) == {"enabled"}


def test_single_entries_fall_into_the_same_trap(full: Rig) -> None:
    body = {"sonic-ocs:OCS_CROSS_CONNECT": {"OCS_CROSS_CONNECT_LIST": [entry("1A-1B")]}}
    assert full.said("PATCH", f"{TABLES}/OCS_CROSS_CONNECT", body) == (204, None)
    assert full.states()["1A-1B"] == "invalid"
    body["sonic-ocs:OCS_CROSS_CONNECT"]["OCS_CROSS_CONNECT_LIST"] = [entry("2A-1B"), entry("3A-3B")]
    full.said("PATCH", f"{TABLES}/OCS_CROSS_CONNECT", body)
    assert full.states()["2A-3B"] == "invalid"


@pytest.mark.parametrize("name", ["1A-9B", "1A-2A", "1B-1A"])
def test_what_the_hardware_cannot_do_is_disabled(name: str) -> None:
    made = rig()
    made.bulk(add=[name])
    made.settle()
    assert made.states() == {name: "disabled"}
    assert set(made.ports().values()) == {"blocked"}
