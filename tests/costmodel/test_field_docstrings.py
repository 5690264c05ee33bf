"""Meanings of fields: those that pydantic itself reads where it is told to."""

import pytest
from pydantic import BaseModel, ConfigDict, Field

from costmodel.field_docstrings import field_descriptions
from costmodel.spec import Bytes, Spec


class ReadAtOnce(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)


class Part(Spec):
    """A part."""

    kept_bytes: Bytes = 0.0
    """what is kept

    of all
    """
    number: int = Field(1, description="said in the field")
    """said below it"""
    bare: int = 2

    def of_part(self) -> int:
        """Not of a field."""
        return self.number


class Larger(Part):
    bare: int = 3
    """said anew"""
    number: int = 4
    source: str = Field("", alias="from")
    """where it comes from"""


class PartAtOnce(ReadAtOnce):
    kept_bytes: Bytes = Field(0.0, alias="kept")
    """what is kept

    of all
    """
    number: int = Field(1, description="said in the field")
    """said below it"""
    bare: int = 2


class LargerAtOnce(PartAtOnce):
    bare: int = 3
    """said anew"""
    number: int = 4
    source: str = Field("", alias="from")
    """where it comes from"""


@pytest.mark.parametrize(("ours", "at_once"), [(Part, PartAtOnce), (Larger, LargerAtOnce)])
def test_schemas_tell_what_pydantic_reads_at_once(ours: type[Spec], at_once: type[BaseModel]) -> None:
    expected = at_once.model_json_schema()["properties"]
    found = ours.model_json_schema()["properties"]
    assert found == expected
    assert field_descriptions(ours) == {
        name: field.description for name, field in at_once.model_fields.items() if field.description
    }


def test_a_class_inside_a_function_has_meanings_and_one_without_source_none() -> None:
    class Inner(Spec):
        number: int
        """which one"""

    assert field_descriptions(Inner) == {"number": "which one"}
    names: dict[str, type[Spec]] = {}
    text = "class Made(Spec):\n    number: int\n    'which one'\n"
    exec(text, {"Spec": Spec, "__name__": "made_of_text"}, names)
    assert field_descriptions(names["Made"]) == {}
    assert names["Made"].model_validate({"number": 1}).model_dump() == {"number": 1}
