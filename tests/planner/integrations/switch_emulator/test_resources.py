"""Which node of the tree a path names."""

import pytest

from planner.integrations.switch_emulator.errors import RestconfError
from planner.integrations.switch_emulator.node_tree import VOCABULARIES, tables
from planner.integrations.switch_emulator.resources import Kind, resource_at

TREE = tables(VOCABULARIES["oper_status"])
MODULE = "/data/sonic-ocs:sonic-ocs"
LOSSES = f"{MODULE}/OCS_FACTORY_INSERTION_LOSS_TABLE/OCS_FACTORY_INSERTION_LOSS_LIST"


@pytest.mark.parametrize(
    ("path", "kind", "key", "leaf"),
    [
        ("", Kind.ROOT, (), ""),
        ("/operations/sonic-ocs%3Abulk-update", Kind.RPC, (), ""),
        (MODULE, Kind.MODULE, (), ""),
        (f"{MODULE}/sonic-ocs:OCS_PORT", Kind.TABLE, (), ""),
        (f"{MODULE}/OCS_PORT/OCS_PORT_LIST", Kind.LIST, (), ""),
        (f"{MODULE}/OCS_PORT/OCS_PORT_LIST=1%2CA/label", Kind.LEAF, ("1,A",), "label"),
        (f"{LOSSES}=1A-2B,193.5,25.0", Kind.ENTRY, ("1A-2B", "193.5", "25.0"), ""),
    ],
)
def test_paths_name_nodes(path: str, kind: Kind, key: tuple[str, ...], leaf: str) -> None:
    found = resource_at(path, TREE)
    assert (found.kind, found.key, found.leaf) == (kind, key, leaf)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/data/OCS_PORT", 404),
        ("/operations/other:rpc", 404),
        (f"{MODULE}/OCS_PORT/OCS_CROSS_CONNECT_LIST=1A", 404),
        (f"{MODULE}/OCS_PORT/OCS_PORT_LIST=1A/colour", 404),
        (f"{MODULE}/OCS_PORT/OCS_PORT_LIST=1A/label/more", 404),
        (f"{MODULE}/OCS_PORT/OCS_PORT_LIST/label", 400),
        (f"{LOSSES}=1A-2B,193.5", 400),
    ],
)
def test_paths_that_name_nothing_are_refused(path: str, status: int) -> None:
    with pytest.raises(RestconfError) as refused:
        resource_at(path, TREE)
    assert refused.value.status == status
