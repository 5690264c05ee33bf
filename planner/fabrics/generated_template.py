"""A template made from the schema of a fabric whose plug-in has none of its own."""

from typing import Any, get_args

import yaml
from pydantic.fields import FieldInfo

from costmodel.field_docstrings import field_descriptions
from costmodel.quantity import Quantity
from costmodel.spec import file_key
from planner.fabrics.template import Template
from planner.model.errors import InputError

WIDTH = 35
"""columns before a comment"""
NOT_WRITTEN = {"kind", "racks", "servers"}
"""fields with a place of their own in the text, or none"""


class GeneratedTemplate(Template):
    """Each field of the schema by its example, its default or the least that it may be, and what it is.

    Devices of a server are the field whose name ends in `_per_server`.
    """

    @property
    def _kind(self) -> str:
        return str(self.schema.model_fields["kind"].default)

    def text(self, *, servers: int, tiles: int, fibers: int) -> str:
        lines = ["  fabric:", _line(f"kind: {self._kind}", _first_line(self.schema.__doc__ or ""))]
        lines.append(f"    servers: {servers}")
        meanings = field_descriptions(self.schema)
        for name, field in self.schema.model_fields.items():
            if name in NOT_WRITTEN:
                continue
            mark = "" if field.is_required() else "# "
            value = tiles if name.endswith("_per_server") and field.is_required() else self._value(name, field)
            lines.append(_line(f"{mark}{file_key(name)}: {_scalar(value)}", _first_line(meanings.get(name, ""))))
        text = "\n".join(lines) + "\n"
        self._require_devices(text, tiles)
        return text

    def _value(self, name: str, field: FieldInfo) -> object:
        """InputError for a required field whose type tells nothing of its values."""
        if not field.is_required():
            return field.get_default(call_default_factory=True, validated_data={})
        if field.examples:
            return field.examples[0]
        quantities = [each for each in field.metadata if isinstance(each, Quantity)]
        if quantities:
            return quantities[0].example
        if field.annotation is int:
            return next((each.ge for each in field.metadata if hasattr(each, "ge")), 1)
        if choices := [each for each in get_args(field.annotation) if isinstance(each, str)]:
            return choices[0]
        key, remedy = file_key(name), "give the field examples, or its plug-in a template"
        raise InputError("the new instance", f"fabric.{key}", f"nothing tells a value for a {self._kind}; {remedy}")

    def _require_devices(self, text: str, tiles: int) -> None:
        fabric = self.schema.model_validate(yaml.safe_load(text)["fabric"])
        if fabric.devices_per_server != tiles:
            problem = (
                f"a server of this {self._kind} has {fabric.devices_per_server} accelerators; give --tiles as many"
            )
            raise InputError("the new instance", "tiles", problem)


def _line(text: str, comment: str) -> str:
    return f"    {text:<{WIDTH - 1}} # {comment}" if comment else f"    {text}"


def _first_line(text: str) -> str:
    return " ".join(text.strip().split("\n\n")[0].split())


def _scalar(value: Any) -> str:
    """On one line of YAML."""
    text: str = yaml.safe_dump(value, width=10**6, default_flow_style=True)
    return text.removesuffix("...\n").strip()
