"""Paths of RESTCONF (RFC 8040, section 3.5.3): which node of the tree a request is about."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

from planner.integrations.switch_emulator.errors import RestconfError
from planner.integrations.switch_emulator.node_tree import MODULE, RPC, Table

LIBRARY = "ietf-yang-library:yang-library"


class Kind(StrEnum):
    """Kinds of resources."""

    ROOT = "restconf"
    VERSION = "yang-library-version"
    OPERATIONS = "operations"
    RPC = "rpc"
    DATA = "data"
    LIBRARY = "library"
    MODULE = "module"
    TABLE = "table"
    LIST = "list"
    ENTRY = "entry"
    LEAF = "leaf"


FIXED = {
    (): Kind.ROOT, ("yang-library-version",): Kind.VERSION, ("operations",): Kind.OPERATIONS, ("data",): Kind.DATA,
    ("operations", f"{MODULE}:{RPC}"): Kind.RPC, ("data", LIBRARY): Kind.LIBRARY,
}  # fmt: skip


@dataclass(frozen=True)
class Resource:
    """What a path names."""

    kind: Kind
    table: Table | None = None
    key: tuple[str, ...] = ()
    leaf: str = ""

    @property
    def is_state(self) -> bool:
        return self.table is not None and not self.table.is_config


def resource_at(path: str, tables: Mapping[str, Table]) -> Resource:
    """Of a path as it was sent, behind /restconf; RestconfError where it names nothing."""
    raw = [part for part in path.split("/") if part]
    fixed = FIXED.get(tuple(map(unquote, raw)))
    if fixed is not None:
        return Resource(fixed)
    if raw[0] != "data":
        raise _nothing(path)
    return _in_module(path, raw[1:], tables)


def _in_module(path: str, raw: list[str], tables: Mapping[str, Table]) -> Resource:
    if unquote(raw[0]) != f"{MODULE}:{MODULE}":
        raise _nothing(path)
    if len(raw) == 1:
        return Resource(Kind.MODULE)
    table = tables.get(_own(unquote(raw[1])))
    if table is None or len(raw) > 4:
        raise _nothing(path)
    if len(raw) == 2:
        return Resource(Kind.TABLE, table)
    name, has_key, keys = raw[2].partition("=")
    if _own(unquote(name)) != table.list_name:
        raise _nothing(path)
    if not has_key:
        if len(raw) == 3:
            return Resource(Kind.LIST, table)
        raise RestconfError("invalid-value", f"{table.list_name} is a list: name its keys {','.join(table.keys)}")
    key = tuple(map(unquote, keys.split(",")))
    if len(key) != len(table.keys):
        raise RestconfError("invalid-value", f"{table.list_name} has the keys {','.join(table.keys)}")
    if len(raw) == 3:
        return Resource(Kind.ENTRY, table, key)
    leaf = _own(unquote(raw[3]))
    if table.leaf(leaf) is None:
        raise _nothing(path)
    return Resource(Kind.LEAF, table, key, leaf)


def _own(name: str) -> str:
    """A name with the module, which may stand before it, taken off."""
    return name.removeprefix(f"{MODULE}:")


def _nothing(path: str) -> RestconfError:
    return RestconfError("invalid-value", f"{path} is no resource of this server", status=404)
