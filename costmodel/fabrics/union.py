"""Every kind of fabric that a file may have: those shipped here, and those of other distributions.

A distribution adds one by the entry point `planner.fabrics`, whose object has the `schema` of the fabric. Nothing is
loaded before a file has a kind that is not shipped, or a list of all kinds is asked for.
"""

from collections.abc import Mapping
from functools import cache, reduce
from importlib.metadata import entry_points
from operator import or_
from typing import Annotated, Any, Protocol

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter, ValidatorFunctionWrapHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from costmodel.fabrics.base import FabricBase
from costmodel.fabrics.divided_ports import DividedPorts
from costmodel.fabrics.fat_tree import FatTree
from costmodel.fabrics.lightpath import Lightpath
from costmodel.fabrics.memory_node_rings import MemoryNodeRings
from costmodel.fabrics.ocs_rail import OcsRail
from costmodel.fabrics.sipac import Sipac
from costmodel.fabrics.sipam import Sipam
from costmodel.fabrics.torus import Torus

GROUP = "planner.fabrics"
SHIPPED: tuple[type[FabricBase], ...] = (
    Lightpath, FatTree, OcsRail, Torus, Sipac, Sipam, DividedPorts, MemoryNodeRings,
)  # fmt: skip


class HasSchema(Protocol):
    """What an entry point gives: more of it is the planner's affair."""

    @property
    def schema(self) -> type[FabricBase]: ...


def kind_of(schema: type[FabricBase]) -> str:
    """The name of a fabric in files."""
    return str(schema.model_fields["kind"].default)


_SHIPPED_KINDS = frozenset(map(kind_of, SHIPPED))


@cache
def outside_fabrics() -> Mapping[str, HasSchema]:
    """Objects of the entry points of other distributions by kind; ValueError for one that cannot be had."""
    found = {}
    for point in entry_points(group=GROUP):
        try:
            entry = point.load()
            found[kind_of(entry.schema)] = entry
        except (ImportError, AttributeError, KeyError) as error:
            raise ValueError(f"entry point {GROUP}: {point.name}: {point.value} cannot be had: {error}") from None
    return {kind: entry for kind, entry in found.items() if kind not in _SHIPPED_KINDS}


def _union(*more: type[FabricBase]) -> Any:
    return Annotated[reduce(or_, (*SHIPPED, *more)), Field(discriminator="kind")]


@cache
def _with_outside() -> TypeAdapter[FabricBase]:
    return TypeAdapter(_union(*(entry.schema for entry in outside_fabrics().values())))


def _validated(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    """A fabric by the kinds shipped here, or by all where its kind is none of them."""
    kind = value.kind if isinstance(value, FabricBase) else value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind in _SHIPPED_KINDS or not outside_fabrics():
        return handler(value)
    return _with_outside().validate_python(value)


class _OneOfAll:
    """Reads the union; writes a fabric as its own class does."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(
            _validated, handler.generate_schema(_union()), serialization=core_schema.simple_ser_schema("any")
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(_with_outside().core_schema if outside_fabrics() else schema)


Fabric = Annotated[FabricBase, _OneOfAll()]
