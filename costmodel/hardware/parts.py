"""Parts of the catalog by kind and name; every number of a part has its source."""

from collections.abc import Callable
from typing import Self, TypeVar, get_type_hints

from pydantic import BeforeValidator, Field, model_validator

from costmodel.catalog import documents, unknown_name
from costmodel.spec import Spec


class SourcedPart(Spec):
    """A part as a catalog file describes it."""

    name: str = Field(min_length=1)
    """under which the catalog and reports show it"""
    source: str = Field(min_length=1)
    """where most numbers come from"""
    sources: dict[str, str] = Field(default_factory=dict)
    """source or derivation of single numbers, by key"""

    @model_validator(mode="after")
    def _sources_name_numbers(self) -> Self:
        keys = {field.alias or name for name, field in type(self).model_fields.items()} - {
            "kind",
            "name",
            "source",
            "sources",
        }
        if unknown := sorted(self.sources.keys() - keys):
            raise ValueError(f"sources: '{self.name}' has no number {', '.join(unknown)}; use its keys {sorted(keys)}")
        return self


PartT = TypeVar("PartT", bound=Spec)


def part_names(kind: str) -> tuple[str, ...]:
    """Names of the catalog's parts of a kind, sorted."""
    return tuple(name for name, content in documents().items() if content.get("kind") == kind)


def load_part(model: type[PartT], kind: str, name: str) -> PartT:
    """A part of the catalog by its name; ValueError names the nearest ones where it is unknown."""
    known = part_names(kind)
    if name not in known:
        raise unknown_name(kind.replace("_", " "), name, known)
    return model.model_validate(documents()[name])


def by_name(load: Callable[[str], Spec]) -> BeforeValidator:
    """Makes a field accept, in place of a part, its name in the catalog."""

    def load_where_named(value: object) -> object:
        return load(value) if isinstance(value, str) else value

    return BeforeValidator(load_where_named, json_schema_input_type=str | get_type_hints(load)["return"])
