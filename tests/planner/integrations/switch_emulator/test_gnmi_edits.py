"""Sets of gNMI as one transaction on one switch."""

import json
from typing import Any

import pytest
from pygnmi.spec.v080.gnmi_pb2 import Path, SetRequest, TypedValue, Update

from planner.integrations.switch_emulator.errors import RestconfError
from planner.integrations.switch_emulator.gnmi_edits import GnmiEdit
from planner.integrations.switch_emulator.gnmi_paths import path_of
from planner.integrations.switch_emulator.switch import OpticalSwitch
from tests.planner.integrations.switch_emulator.switches import entry, rig


@pytest.fixture
def switch() -> OpticalSwitch:
    return rig().emulator.switches["ocs0"]


def at(switch: OpticalSwitch, name: str) -> Any:
    return path_of(switch.tables["OCS_CROSS_CONNECT"], {"cross_connect_id": name})


def of_table(switch: OpticalSwitch) -> Any:
    return Path(origin="sonic-ocs", elem=list(at(switch, "").elem)[:2])


def valued(path: Any, value: Any) -> Any:
    return Update(path=path, val=TypedValue(json_ietf_val=json.dumps(value).encode()))


def put(switch: OpticalSwitch, *names: str) -> list[Any]:
    return [valued(at(switch, name), entry(name)) for name in names]


def do(switch: OpticalSwitch, **what: Any) -> None:
    edit = GnmiEdit(switch)
    edit.read(SetRequest(**what))
    edit.apply()


def test_deletes_go_first_and_all_is_one_transaction(switch: OpticalSwitch) -> None:
    do(switch, update=put(switch, "1A-1B", "2A-2B"))
    do(switch, delete=[at(switch, "1A-1B")], update=put(switch, "1A-3B"))
    assert sorted(switch.circuits) == ["1A-3B", "2A-2B"]
    with pytest.raises(RestconfError, match="colour"):
        do(switch, delete=[at(switch, "2A-2B")], update=[valued(at(switch, "3A-4B"), {"colour": "blue"})])
    assert sorted(switch.circuits) == ["1A-3B", "2A-2B"], "nothing was done"


def test_the_traps_are_the_same(switch: OpticalSwitch) -> None:
    do(switch, update=put(switch, "1A-1B", "2A-2B"))
    do(switch, update=put(switch, "2A-4B"))
    assert switch.hardware.circuits["2A-4B"].status == "invalid"
    do(switch, update=put(switch, "1A-2B", "3A-3B"))
    assert [switch.hardware.circuits[name].status for name in ("1A-1B", "2A-2B")] == ["invalid", "invalid"]


def test_a_table_is_replaced_and_an_entry_loses_what_is_not_given(switch: OpticalSwitch) -> None:
    do(switch, update=put(switch, "1A-1B", "2A-2B"))
    do(switch, replace=[valued(of_table(switch), {"sonic-ocs:OCS_CROSS_CONNECT_LIST": [entry("3A-3B")]})])
    assert list(switch.circuits) == ["3A-3B"]
    do(switch, replace=[valued(at(switch, "3A-3B"), {"a_side": "3A"})])
    assert switch.circuits["3A-3B"] == {"cross_connect_id": "3A-3B", "a_side": "3A"}
    do(switch, delete=[of_table(switch)])
    assert switch.circuits == {}


def test_a_leaf_of_a_port_is_set(switch: OpticalSwitch) -> None:
    path = path_of(switch.tables["OCS_PORT"], {"simplex_port_id": "1A"})
    path.elem.add(name="config_status")
    do(switch, update=[Update(path=path, val=TypedValue(string_val="force_blocked"))])
    assert switch.hardware.overrides == {"1A": "force_blocked"}


def test_state_is_not_written(switch: OpticalSwitch) -> None:
    path = path_of(switch.tables["OCS_PORT_TABLE"], {"simplex_port_id": "1A"})
    with pytest.raises(RestconfError, match="table of the configuration"):
        do(switch, delete=[path])
