"""What is wrong with one value that a user gave, in words that say what is expected there."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

SECRET = "secret"
"""kind of an error of a value that may hold one: it is not shown"""
SHOWN_BY = {
    "Settings": "planner schema settings",
    "SlurmConfig": "planner schema slurm",
    "Kubernetes": "planner schema kubernetes",
    "OcsConfig": "planner schema switches",
    "Topology": "planner schema topology",
    "Prices": "planner schema prices",
    "FailureModel": "planner schema failures",
    "PageInstance": "planner schema --pages",
    "PagePlan": "planner schema --pages --plan",
    "Plan": "planner schema --plan",
    "Request": "/openapi.json",
    "Jobs": "/openapi.json",
    "Budget": "/openapi.json",
    "ExtenderArgs": "/openapi.json",
    "ExtenderBindingArgs": "/openapi.json",
}
"""what shows every field of a model, where that is not `planner schema`"""
WHOLE, NUMBER, TRUTH, TEXT, LIST, MAPPING = (
    "a whole number", "a number", "true or false", "text", "a list", "a mapping",
)  # fmt: skip
TYPES = {
    "int_type": WHOLE, "int_parsing": WHOLE, "int_parsing_size": WHOLE, "int_from_float": WHOLE,
    "float_type": NUMBER, "float_parsing": NUMBER, "bool_type": TRUTH, "bool_parsing": TRUTH, "string_type": TEXT,
    "list_type": LIST, "tuple_type": LIST, "set_type": LIST, "frozen_set_type": LIST, "iterable_type": LIST,
    "dict_type": MAPPING, "mapping_type": MAPPING, "model_type": MAPPING, "model_attributes_type": MAPPING,
    "path_type": "a path", "none_required": "null",
}  # fmt: skip
"""what a value should be, by the kind of an error of a validator"""
LIMITS = {
    "greater_than": "must be above {gt:.12g}",
    "greater_than_equal": "must be at least {ge:.12g}",
    "less_than": "must be below {lt:.12g}",
    "less_than_equal": "must be at most {le:.12g}",
    "multiple_of": "must be a multiple of {multiple_of:.12g}",
    "finite_number": "must be a finite number",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "too_short": "must have {min_length} or more entries, and has {actual_length}",
    "too_long": "must have at most {max_length} entries, and has {actual_length}",
    "string_too_short": "must have {min_length} or more characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must match {pattern}",
}
_GIVEN = {list: "a list", tuple: "a list", dict: "a mapping", type(None): "null"}
MOST_NAMED = 3
"""fields that are named as examples"""
MOST_SHOWN = 60
"""characters of a wrong value that are repeated to its giver"""


def shown_by(model: type[BaseModel]) -> str:
    """What lists the fields of a file or body."""
    return f"`{SHOWN_BY.get(model.__name__, 'planner schema')}`"


def message(error: Mapping[str, Any], model: type[BaseModel] | None = None, beside: Sequence[Any] = ()) -> str:
    """The error of a validator in words; `beside`: others of the same value, which may be of several types."""
    kind, said = str(error["type"]), str(error["msg"]).removeprefix("Value error, ")
    if kind == "missing":
        shown = f" ({shown_by(model)} shows every field)" if model else ""
        return f"is missing; give it, with its unit if it has one{shown}"
    if kind == "extra_forbidden" and model is not None:
        return _unknown(error, model)
    if kind == "union_tag_not_found":
        listed = f"; {shown_by(model)} lists them" if model else ""
        return f"has no `kind`{listed}"
    if kind == "union_tag_invalid":
        return _no_such_kind(str(error["ctx"]["tag"]), str(error["ctx"]["expected_tags"]).replace("'", ""))
    given = error.get("input")
    if kind == SECRET:
        return said
    if kind in TYPES:
        wanted = dict.fromkeys(TYPES[other["type"]] for other in (error, *beside) if other["type"] in TYPES)
        named = fields_at(model, error["loc"]) if model is not None and MAPPING in wanted else ()
        quoted = "; put it into quotes" if [*wanted] == [TEXT] and isinstance(given, int | float | date) else ""
        return f"must be {_either(wanted)}{_with(named)}{_got(given)}{quoted}"
    if kind in LIMITS:
        said = LIMITS[kind].format(**error.get("ctx", {}))
    elif _text(given) in said:
        return said
    return f"{said}{_got(given)}" if isinstance(given, int | float | str) else said


def _got(given: object) -> str:
    """What was given instead, if it can be told in few words."""
    if isinstance(given, bool):
        return f" (got {str(given).lower()})"
    if isinstance(given, int | float | str):
        return f" (got {given!r})" if len(_text(given)) <= MOST_SHOWN else ""
    if isinstance(given, date):  # as YAML reads 2026-01-31
        return f" (got the date {given})"
    return f" (got {_GIVEN[type(given)]})" if type(given) in _GIVEN else ""


def _text(given: object) -> str:
    """A value as text; whole numbers too long for Python to write are cut off."""
    return str(given if not isinstance(given, int) or abs(given) < 10**MOST_SHOWN else math.copysign(math.inf, given))


def _with(fields: Sequence[str]) -> str:
    """The first fields of a mapping, for an example."""
    return f" with fields such as {', '.join(fields[:MOST_NAMED])}" if fields else ""


def no_mapping(model: type[BaseModel], given: object) -> str:
    """What is wrong with a file or body that is none."""
    return f"must be a mapping{_with(fields_at(model, ()))}{_got(given)}"


def _either(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def _no_such_kind(given: str, known: str) -> str:
    near = get_close_matches(given, known.split(", "), n=1)
    return f"unknown kind '{given}'; {f'did you mean {near[0]}? ' if near else ''}known: {known}"


def _unknown(error: Mapping[str, Any], model: type[BaseModel]) -> str:
    """A field that is not there, and the one that was probably meant."""
    *where, key = error["loc"]
    near = get_close_matches(str(key), fields_at(model, where), n=1)
    remedy = f"did you mean '{near[0]}'?" if near else f"correct or remove it ({shown_by(model)} lists them)"
    return f"is no known field here; {remedy}"


def fields_at(model: type[BaseModel], where: Sequence[str | int]) -> list[str]:
    """Names of the fields that may stand at a place of a file, the way to it as validators give it."""
    schema = _schema(model)
    nodes = [schema]
    for step in where:
        nodes = [inside for node in nodes for inside in _inside(schema, node, step)]
    return list(dict.fromkeys(name for node in nodes for each in _forms(schema, node) for name in each["properties"]))


def truths_for_numbers(model: type[BaseModel], data: object) -> list[dict[str, Any]]:
    """Errors, as of a validator, of true and false where a file has numbers: Python would count with them."""
    found = []
    for way, given in _truths(data, ()):
        schema = _schema(model)
        nodes, here = [schema], data
        for step in way:
            forms = [form for node in nodes for form in _of_kind(schema, node, here)]
            nodes = [inside for form in forms for inside in _inside(schema, form, step)]
            here = here[step]  # type: ignore[index]
        types = {name for node in nodes for name in _types(schema, node)}
        if types & {"integer", "number"} and "boolean" not in types:
            found.append({"type": "float_type", "loc": way, "msg": "", "input": given})
    return found


def _truths(data: object, way: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], bool]]:
    """The way to each truth value of a file."""
    if isinstance(data, bool):
        yield way, data
    elif isinstance(data, dict | list):
        for step, inner in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _truths(inner, (*way, step))


def _of_kind(schema: Mapping[str, Any], node: dict[str, Any], given: object) -> Iterator[dict[str, Any]]:
    """All forms of a value, or the one that its `kind` names."""
    node = _resolved(schema, node)
    tag = node.get("discriminator")
    name = given.get(tag["propertyName"]) if tag and isinstance(given, dict) else None
    if tag and isinstance(name, str) and name in tag["mapping"]:
        yield {"$ref": tag["mapping"][name]}
    elif choices := [each for choice in ("anyOf", "oneOf", "allOf") for each in node.get(choice, ())]:
        for each in choices:
            yield from _of_kind(schema, each, given)
    else:
        yield node


def _types(schema: Mapping[str, Any], node: dict[str, Any]) -> Iterator[str]:
    """All types of JSON that a value may have."""
    node = _resolved(schema, node)
    if "type" in node:
        yield node["type"]
    for choice in ("anyOf", "oneOf", "allOf"):
        for each in node.get(choice, ()):
            yield from _types(schema, each)


@lru_cache(maxsize=32)
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(by_alias=True)


def _resolved(schema: Mapping[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        node = schema["$defs"][node["$ref"].rpartition("/")[2]]
    return node


def _forms(schema: Mapping[str, Any], node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All forms of a value that have named fields."""
    node = _resolved(schema, node)
    if "properties" in node:
        yield node
    for choice in ("anyOf", "oneOf", "allOf"):
        for each in node.get(choice, ()):
            yield from _forms(schema, each)


def _inside(schema: Mapping[str, Any], node: dict[str, Any], step: str | int) -> Iterator[dict[str, Any]]:
    """What one step leads to: a field, an entry, or one of several forms by its tag; else the node itself."""
    node = _resolved(schema, node)
    tagged = node.get("discriminator", {}).get("mapping", {}).get(step)
    if tagged is not None:
        yield {"$ref": tagged}
        return
    choices = [each for choice in ("anyOf", "oneOf", "allOf") for each in node.get(choice, ())]
    found = [inside for each in choices for inside in _inside(schema, each, step)]
    named = node.get("properties", {}).get(step)
    if named is not None:
        found.append(named)
    elif isinstance(node.get("additionalProperties"), dict):
        found.append(node["additionalProperties"])
    elif isinstance(step, int) and isinstance(node.get("items"), dict):
        found.append(node["items"])
    yield from found or [node]
