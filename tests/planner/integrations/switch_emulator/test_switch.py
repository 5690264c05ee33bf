"""Rows of tables by their keys."""

from tests.planner.integrations.switch_emulator.switches import TABLES, rig


def test_a_key_of_several_leaves_in_any_spelling() -> None:
    made = rig()
    path = f"{TABLES}/OCS_FACTORY_INSERTION_LOSS_TABLE/OCS_FACTORY_INSERTION_LOSS_LIST"
    status, body = made.said("GET", f"{path}=1A%2D2B,229.100,25")
    assert status == 200
    assert body["sonic-ocs:OCS_FACTORY_INSERTION_LOSS_LIST"][0]["frequency_THz"] == "229.1"
