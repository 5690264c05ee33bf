"""Every count of a fabric has a most, so that no number of a file makes lists that no memory holds."""

from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter

from costmodel.fabrics import Fabric

BOUNDED_BY_OTHERS = {
    "BoardsConfig.sides", "LineShifts.cubes", "LineShifts.sides", "LineShifts.x", "LineShifts.y", "LineShifts.z",
    "Route.switches", "Sipam.memory_grid", "Sipam.units_per_port", "Torus.partitions", "Torus.sides",
}  # fmt: skip
"""fields whose most depends on other fields, which a validator compares"""


def _unbounded(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Whole numbers without a most in the schema of a field, other definitions left out."""
    if node.get("type") == "integer" and not {"maximum", "const", "enum"} & node.keys():
        yield node
    inner = [each for choice in ("anyOf", "oneOf", "prefixItems") for each in node.get(choice, ())]
    for each in [*inner, *(node[key] for key in ("items", "additionalProperties") if isinstance(node.get(key), dict))]:
        yield from _unbounded(each)


def test_every_count_of_a_fabric_has_a_most() -> None:
    defined = TypeAdapter(Fabric).json_schema()["$defs"]
    fields = {f"{name}.{key}": field for name, each in defined.items() for key, field in each["properties"].items()}
    assert "Lightpath.fibers" in fields
    assert {name for name, field in fields.items() if [*_unbounded(field)]} == BOUNDED_BY_OTHERS
