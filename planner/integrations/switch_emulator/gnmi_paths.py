"""Paths and values of gNMI, as resources and bodies of RESTCONF: both name one tree."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from pygnmi.spec.v080.gnmi_pb2 import Path, PathElem, TypedValue

from planner.integrations.switch_emulator.errors import RestconfError
from planner.integrations.switch_emulator.node_tree import MODULE, Table
from planner.integrations.switch_emulator.resources import Kind, Resource, resource_at

ORIGINS = ("", MODULE, "rfc7951")


def resource_of(prefix: Path, path: Path, tables: Mapping[str, Table]) -> Resource:
    """What a path with its prefix names; an empty one all of the module. RestconfError where it names nothing."""
    elements = [*prefix.elem, *path.elem]
    if (path.origin or prefix.origin) not in ORIGINS:
        raise RestconfError("invalid-value", f"'{path.origin}' is no origin here")
    if not elements:
        return Resource(Kind.MODULE)
    first = elements[0].name
    parts = ["data", f"{MODULE}:{MODULE}" if first == MODULE else first]
    for depth, element in enumerate(elements[1:], 1):
        key = _key(tables, elements, depth)
        parts.append(element.name + (f"={','.join(quote(part, safe='') for part in key)}" if key else ""))
    return resource_at("/".join(["", *parts]), tables)


def _key(tables: Mapping[str, Table], elements: Sequence[PathElem], depth: int) -> list[str]:
    """Key of an element, in the order of the list; none where all entries are meant."""
    given = dict(elements[depth].key)
    if not given or all(value == "*" for value in given.values()):
        return []
    table = tables.get(elements[depth - 1].name.removeprefix(f"{MODULE}:"))
    if table is None or set(given) != set(table.keys):
        raise RestconfError("invalid-value", f"{elements[depth].name} has other keys than {', '.join(given)}")
    return [given[name] for name in table.keys]


def path_of(table: Table, row: Mapping[str, Any]) -> Path:
    """Of one entry."""
    key = {name: row[name] for name in table.keys}
    elements = [PathElem(name=MODULE), PathElem(name=table.name), PathElem(name=table.list_name, key=key)]
    return Path(origin=MODULE, elem=elements)


def encoded(value: Any) -> TypedValue:
    """JSON_IETF of a node: the outermost members of an object name the module."""
    if isinstance(value, dict):
        value = {f"{MODULE}:{name}": inner for name, inner in value.items()}
    return TypedValue(json_ietf_val=json.dumps(value, separators=(",", ":")).encode())


def decoded(value: TypedValue) -> Any:
    """What was sent in JSON or as a string, names of the module taken off its outermost members."""
    which = value.WhichOneof("value")
    if which == "string_val":
        return value.string_val
    if which not in ("json_ietf_val", "json_val"):
        raise RestconfError("invalid-value", f"a value in JSON_IETF is needed, not {which}")
    try:
        found = json.loads(getattr(value, which))
    except ValueError as error:
        raise RestconfError("malformed-message", str(error)) from None
    return dict(_unqualified(found)) if isinstance(found, dict) else found


def _unqualified(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, inner in value.items():
        yield name.removeprefix(f"{MODULE}:"), inner
