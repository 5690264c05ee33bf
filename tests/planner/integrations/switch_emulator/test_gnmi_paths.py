"""Paths and values of gNMI."""

import pytest
from pygnmi.create_gnmi_path import gnmi_path_generator
from pygnmi.spec.v080.gnmi_pb2 import Path, TypedValue

from planner.integrations.switch_emulator.errors import RestconfError
from planner.integrations.switch_emulator.gnmi_paths import decoded, encoded, path_of, resource_of
from planner.integrations.switch_emulator.node_tree import VOCABULARIES, tables
from planner.integrations.switch_emulator.resources import Kind

TREE = tables(VOCABULARIES["oper_status"])


@pytest.mark.parametrize(
    ("text", "kind", "key"),
    [
        ("", Kind.MODULE, ()),
        ("sonic-ocs:sonic-ocs", Kind.MODULE, ()),
        ("sonic-ocs:sonic-ocs/OCS_PORT", Kind.TABLE, ()),
        ("sonic-ocs:sonic-ocs/OCS_PORT/OCS_PORT_LIST[simplex_port_id=*]", Kind.LIST, ()),
        ("/sonic-ocs/OCS_PORT/OCS_PORT_LIST[simplex_port_id=1A]/label", Kind.LEAF, ("1A",)),
    ],
)
def test_paths_name_resources(text: str, kind: Kind, key: tuple[str, ...]) -> None:
    found = resource_of(Path(), gnmi_path_generator(text), TREE)
    assert (found.kind, found.key) == (kind, key)


def test_a_prefix_goes_before() -> None:
    prefix = gnmi_path_generator("sonic-ocs:sonic-ocs/OCS_PORT")
    found = resource_of(prefix, gnmi_path_generator("OCS_PORT_LIST[simplex_port_id=1A]"), TREE)
    assert (found.kind, found.key) == (Kind.ENTRY, ("1A",))


def test_keys_may_come_in_any_order() -> None:
    row = {"temperature_C": "25.0", "frequency_THz": "193.5", "cross_connect_id": "1A-2B"}
    path = path_of(TREE["OCS_FACTORY_INSERTION_LOSS_TABLE"], row)
    assert resource_of(Path(), path, TREE).key == ("1A-2B", "193.5", "25.0")


@pytest.mark.parametrize(
    "text",
    ["openconfig:sonic-ocs", "sonic-ocs:other", "sonic-ocs:sonic-ocs/OCS_PORT/OCS_PORT_LIST[name=1A]"],
)
def test_others_are_refused(text: str) -> None:
    with pytest.raises(RestconfError):
        resource_of(Path(), gnmi_path_generator(text), TREE)


def test_values_go_there_and_back() -> None:
    value = {"a_side": "1A"}
    assert encoded(value).json_ietf_val == b'{"sonic-ocs:a_side":"1A"}'
    assert decoded(encoded(value)) == value
    assert decoded(TypedValue(string_val="1A")) == decoded(encoded("1A")) == "1A"
    for wrong in (TypedValue(int_val=1), TypedValue(json_ietf_val=b"{")):
        with pytest.raises(RestconfError):
            decoded(wrong)
