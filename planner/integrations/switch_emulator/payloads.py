"""Payloads of the node tree, in and out, held to a schema: JSON as RFC 7951 encodes YANG, unknown leaves refused."""

import json
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic_core import to_json

from planner.integrations.switch_emulator.errors import RestconfError
from planner.integrations.switch_emulator.node_tree import CIRCUITS, MODULE, Leaf, Table, Vocabulary, tables

Row = dict[str, Any]
STRICT = ConfigDict(extra="forbid", strict=True)
TAGS = {"extra_forbidden": "unknown-element", "missing": "missing-element", "json_invalid": "malformed-message"}
"""error of the schema -> error-tag of RFC 6241"""
MOST_ERRORS = 8
"""of one payload that are told"""
MOST_WRITTEN = 512
"""bodies that were held to the schema, as most are written again"""


def type_of(leaf: Leaf) -> Any:
    """Its type as a payload has it; a decimal64 is a string in JSON."""
    one: Any = str
    if leaf.words:
        one = Literal[leaf.words]
    elif leaf.digits is not None:
        one = Annotated[str, Field(pattern=rf"^-?\d+(\.\d{{1,{leaf.digits}}})?$")]
    return list[one] if leaf.is_list else one


def _model(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    """Of fields with type and default."""
    made: type[BaseModel] = cast(Any, create_model)(name, __config__=STRICT, **fields)
    return made


def _top(name: str, inner: Any) -> type[BaseModel]:
    """The outermost object, whose one member names its module."""
    return _model(name, {name.replace("-", "_"): (inner, Field(alias=f"{MODULE}:{name}"))})


def _rows_of(table: Table, required: Sequence[str]) -> Any:
    fields = {leaf.name: (type_of(leaf), ... if leaf.name in required else None) for leaf in table.leaves}
    row: Any = _model(table.list_name, fields)
    return list[row]


def _table_model(table: Table) -> type[BaseModel]:
    return _model(table.name, {table.list_name: (_rows_of(table, table.keys), None)})


def _module_model(known: Iterable[Table]) -> type[BaseModel]:
    return _model("sonic_ocs", {table.name: (_table_model(table), None) for table in known})


def _input_model() -> type[BaseModel]:
    adds = _rows_of(CIRCUITS, [leaf.name for leaf in CIRCUITS.leaves])
    return _model("input", {"delete": (list[str], []), "add": (adds, [])})


def _output_model() -> type[BaseModel]:
    count = Annotated[int, Field(ge=0, lt=2**32)]
    fields = {"deleted_count": (count, ...), "added_count": (count, ...), "failed_keys": (list[str], None)}
    return _model("output", fields)


@cache
def _adapter(vocabulary: Vocabulary, shape: str, name: str) -> TypeAdapter[Any]:
    """`shape`: module (its configuration, or `all`), table, list, leaf (`name` is table/leaf), input or output."""
    known = tables(vocabulary)
    table_name, _, leaf_name = name.partition("/")
    if shape == "input":
        return TypeAdapter(_top(shape, _input_model()))
    if shape == "output":
        return TypeAdapter(_top(shape, _output_model()))
    if shape == "module":
        held = (table for table in known.values() if table.is_config or name == "all")
        return TypeAdapter(_top(MODULE, _module_model(held)))
    table = known[table_name]
    if shape == "table":
        return TypeAdapter(_top(table_name, _table_model(table)))
    if shape == "list":
        return TypeAdapter(_top(table.list_name, _rows_of(table, table.keys)))
    leaf = table.leaf(leaf_name)
    assert leaf is not None
    return TypeAdapter(_top(leaf.name, type_of(leaf)))


@lru_cache(MOST_WRITTEN)
def _require_valid(body: bytes, vocabulary: Vocabulary, shape: str, name: str) -> None:
    _adapter(vocabulary, shape, name).validate_json(body)


class Payloads:
    """Reads and writes payloads of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._tables = tables(vocabulary)

    def read(self, body: bytes, shape: str, name: str = "") -> Any:
        """What stands under the one member of a body; RestconfError where the schema refuses it."""
        try:
            _adapter(self._vocabulary, shape, name).validate_json(body)
        except ValidationError as error:
            raise _refusal(error) from None
        (value,) = json.loads(body).values()
        self._require_unique(shape, name, value)
        return value

    def write(self, value: Any, shape: str, name: str = "") -> bytes:
        """A body of one member; what the schema refuses is a fault of this program."""
        member = {"module": MODULE, "table": name, "leaf": name.partition("/")[2]}.get(shape, shape)
        if shape == "list":
            member = self._tables[name].list_name
        body = to_json({f"{MODULE}:{member}": value})
        _require_valid(body, self._vocabulary, shape, name)
        return body

    def _require_unique(self, shape: str, name: str, value: Any) -> None:
        """No two rows with one key."""
        if shape == "input":
            _unique(CIRCUITS, value.get("add", []))
        elif shape == "list":
            _unique(self._tables[name], value)
        elif shape in ("table", "module"):
            held = {name: value} if shape == "table" else value
            for each, rows in held.items():
                _unique(self._tables[each], rows.get(self._tables[each].list_name, []))


def _unique(table: Table, rows: Sequence[Row]) -> None:
    seen = set()
    for row in rows:
        key = tuple(row[each] for each in table.keys)
        if key in seen:
            raise RestconfError("invalid-value", f"{table.list_name} has two entries with the key {','.join(key)}")
        seen.add(key)


def _refusal(error: ValidationError) -> RestconfError:
    """All that is wrong in words, the first by its tag and place."""
    found = [(each["type"], _place(each["loc"]), each["msg"]) for each in error.errors()[:MOST_ERRORS]]
    kind, place, _ = found[0]
    said = "; ".join(f"{where}: {text}" if where else text for _, where, text in found)
    return RestconfError(TAGS.get(kind, "invalid-value"), said, path=place)


def _place(steps: Sequence[str | int]) -> str:
    """Of names and indices, entries of lists counted from 1."""
    return "".join(f"[{step + 1}]" if isinstance(step, int) else f"/{step}" for step in steps)
