"""Edits of tables and leaves."""

from tests.planner.integrations.switch_emulator.switches import TABLES, entry, rig


def test_a_table_is_replaced_as_a_whole() -> None:
    made = rig()
    made.bulk(add=["1A-1B", "2A-2B"])
    body = {"sonic-ocs:OCS_CROSS_CONNECT": {"OCS_CROSS_CONNECT_LIST": [entry("2A-2B"), entry("3A-1B")]}}
    assert made.said("PUT", f"{TABLES}/OCS_CROSS_CONNECT", body) == (204, None)
    assert sorted(made.states()) == ["2A-2B", "3A-1B"]
    assert made.said("DELETE", f"{TABLES}/OCS_CROSS_CONNECT") == (204, None)
    assert made.states() == {}


def test_labels_of_ports_are_written_and_others_stay() -> None:
    made = rig()
    row = {"simplex_port_id": "1A", "label": "gpu-3 rail 0"}
    body = {"sonic-ocs:OCS_PORT_LIST": [row]}
    assert made.said("PATCH", f"{TABLES}/OCS_PORT/OCS_PORT_LIST=1A", body) == (204, None)
    assert made.rows("OCS_PORT")[0] == {**row, "config_status": "normal"}
    assert len(made.rows("OCS_PORT")) == 8
