"""Fields of a kind of file as people read them: type, unit, default, example and meaning, from its JSON Schema."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from costmodel.quantity import with_prefix
from planner.model.errors import InputError

Schema = Mapping[str, Any]
ROOT = ""
"""name of the object that a file is"""
LONG = 40
"""characters; a default that takes more is not spelled out"""
KIND = "says which of several kinds of object this is"
_WORDS = {"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false"}


@dataclass(frozen=True)
class Field:
    """One key of an object in a file."""

    key: str
    type: str
    """in words, the unit included"""
    default: str
    """as a file would have it; "required" where it must be given, "" where there is none to spell out"""
    example: str
    meaning: str
    objects: tuple[str, ...]
    """names of the objects that it may hold"""


@dataclass(frozen=True)
class Object:
    """One kind of object in a file."""

    name: str
    meaning: str
    kind: str
    """value of its field `kind`; "" where it has none"""
    fields: tuple[Field, ...]


def objects_of(schema: Schema, title: str) -> dict[str, Object]:
    """Every object of a kind of file by name, the file itself first; an object comes after one that holds it."""
    found: dict[str, Object] = {}
    waiting = [ROOT]
    while waiting:
        name = waiting.pop(0)
        if name in found:
            continue
        found[name] = _object(name, schema if name == ROOT else schema["$defs"][name], schema, title)
        waiting += [held for field in found[name].fields for held in field.objects]
    return found


def at_path(objects: Mapping[str, Object], path: str) -> tuple[Object, ...]:
    """Objects that may stand at a path of keys such as `cluster.fabric`; a kind of them follows its key, as in
    `cluster.fabric.lightpath`.

    InputError names the keys that there are where one is unknown.
    """
    here: tuple[Object, ...] = (objects[ROOT],)
    for i, key in enumerate(parts := path.split(".") if path else []):
        of_kind = tuple(each for each in here if each.kind == key) if len(here) > 1 else ()
        following = of_kind or _below(objects, here, key)
        if not following:
            keys = sorted({field.key for each in here for field in each.fields if field.objects})
            kinds = sorted(each.kind for each in here if each.kind) if len(here) > 1 else []
            known = f"; objects stand at {', '.join(kinds + keys)}" if kinds or keys else "; nothing stands below it"
            raise InputError("planner fields", ".".join(parts[: i + 1]), f"there is no object '{key}'{known}")
        here = following
    return here


def matching(objects: Mapping[str, Object], word: str) -> Iterator[tuple[Object, Field]]:
    """Fields whose key or meaning holds a word, in any case."""
    sought = word.lower()
    for each in objects.values():
        for field in each.fields:
            if sought in field.key.lower() or sought in field.meaning.lower():
                yield each, field


def _below(objects: Mapping[str, Object], here: tuple[Object, ...], key: str) -> tuple[Object, ...]:
    names = [name for each in here for field in each.fields if field.key == key for name in field.objects]
    return tuple(objects[name] for name in dict.fromkeys(names))


def _object(name: str, of: Schema, schema: Schema, title: str) -> Object:
    required = of.get("required", ())
    properties = of.get("properties", {})
    fields = tuple(_field(key, each, key in required, schema) for key, each in properties.items())
    kind = properties.get("kind", {}).get("const", "")
    return Object(name or title, _line(of.get("description", "")), str(kind), fields)


def _field(key: str, of: Schema, is_required: bool, schema: Schema) -> Field:
    alternatives = [each for each in _flat(of) if each.get("type") != "null"]
    words = list(dict.fromkeys(_type(each, schema) for each in alternatives))
    unit = next((each["description"].removeprefix("in ") for each in alternatives if _is_quantity(each)), None)
    example = of.get("examples") or next((each["examples"] for each in of.get("anyOf", ()) if "examples" in each), [""])
    meaning = _line(of.get("description", KIND if "const" in of else ""))
    objects = tuple(dict.fromkeys(name for each in alternatives for name in _held(each)))
    return Field(
        key=key,
        type=" or ".join(word for word in words if word),
        default="required" if is_required or "const" in of else _default(of.get("default"), unit),
        example=str(example[0]),
        meaning="" if meaning.startswith("a number in SI") else meaning,
        objects=objects,
    )


def _flat(of: Schema) -> list[Schema]:
    """Alternatives of a field, those of alternatives too."""
    inner = of.get("anyOf", of.get("oneOf"))
    return [of] if inner is None else [flat for each in inner for flat in _flat(each)]


def _is_quantity(of: Schema) -> bool:
    return of.get("type") == "number" and str(of.get("description", "")).startswith("in ")


def _held(of: Schema) -> Iterator[str]:
    if "$ref" in of:
        yield of["$ref"].rpartition("/")[2]
    for key in ("items", "additionalProperties"):
        if isinstance(of.get(key), Mapping):
            for each in _flat(of[key]):
                yield from _held(each)


def _type(of: Schema, schema: Schema) -> str:
    """An alternative in words; "" for the text form of a quantity, which its number form names too."""
    if "$ref" in of:
        name = of["$ref"].rpartition("/")[2]
        return str(schema["$defs"][name].get("properties", {}).get("kind", {}).get("const", name))
    if "const" in of:
        return str(of["const"])
    if "enum" in of:
        return ", ".join(map(str, of["enum"]))
    kind = of.get("type")
    if kind == "array":
        return _list(of, schema)
    if kind == "object":
        inner = of.get("additionalProperties")
        keys = ", ".join(of.get("propertyNames", {}).get("enum", ())) or "name"
        return f"{keys}: {_any(inner, schema)}" if isinstance(inner, Mapping) else "mapping"
    if _is_quantity(of):
        return f"quantity in {of['description'].removeprefix('in ')}"
    if kind == "string" and str(of.get("description", "")).startswith("with its unit"):
        return ""
    return _WORDS.get(str(kind), str(kind)) + _limits(of)


def _list(of: Schema, schema: Schema) -> str:
    if "prefixItems" in of:
        return "[" + ", ".join(_any(each, schema) for each in of["prefixItems"]) + "]"
    return f"list of: {_any(of['items'], schema)}" if of.get("items") else "list"


def _any(of: Schema, schema: Schema) -> str:
    words = [_type(each, schema) for each in _flat(of)]
    return " or ".join(word for word in dict.fromkeys(words) if word)


def _limits(of: Schema) -> str:
    least, most = of.get("minimum"), of.get("maximum")
    above, below = of.get("exclusiveMinimum"), of.get("exclusiveMaximum")
    if least is not None and most is not None:
        return f", {_number(least)} to {_number(most)}"
    limits = {"at least": least, "above": above, "at most": most, "below": below}
    return "".join(f", {word} {_number(limit)}" for word, limit in limits.items() if limit is not None)


def _number(value: int | float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _default(value: object, unit: str | None) -> str:
    if value in (None, "", []):
        return ""
    if unit is not None and isinstance(value, int | float):
        return with_prefix(float(value), unit)
    if isinstance(value, str):
        return value
    text = json.dumps(value)
    return text if len(text) <= LONG else ""


def _line(text: str) -> str:
    return " ".join(text.split())
