"""Read a JSON or YAML file into a Spec, with errors that name file, field and remedy."""

import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from costmodel.spec import Spec
from planner.errors import InputError

MAX_FILE_BYTES = 64 * 2**20
SpecT = TypeVar("SpecT", bound=Spec)


class _StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML without duplicate keys, which would silently drop a value."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"key '{key.value}' is given twice", problem_mark=key.start_mark)
            seen.add(key.value)
        result: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return result


def read_text(path: Path) -> str:
    """Text of a file; InputError for what is no readable, reasonably small UTF-8 file."""
    name = str(path)
    if path.is_dir():
        raise InputError(name, "", "is a directory; name a .json or .yaml file in it")
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise InputError(name, "", f"has {size / 1e6:.0f} MB; files over {MAX_FILE_BYTES / 1e6:.0f} MB are not read")
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(name, "", f"is not UTF-8 (byte {error.start}); save it as UTF-8 text") from None
    except OSError as error:
        raise InputError(name, "", f"cannot be read: {error.strerror}") from None
    if not text.strip():
        raise InputError(name, "", "is empty; `planner new` writes one to start from")
    return text


def parse_text(text: str, name: str) -> dict[str, Any]:
    """Top-level mapping of a JSON or YAML text."""
    try:
        data = json.loads(text) if text.lstrip().startswith("{") else yaml.load(text, _StrictLoader)
    except json.JSONDecodeError as error:
        raise InputError(name, f"line {error.lineno}", f"is no valid JSON: {error.msg}") from None
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(name, line, f"is no valid YAML: {error.problem}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(name, "", f"is no valid YAML: {error}") from None
    if not isinstance(data, dict):
        raise InputError(name, "", f"holds a {type(data).__name__}, not a mapping of fields")
    return data


def validate(model: type[SpecT], data: dict[str, Any], name: str) -> SpecT:
    """The model, or InputError with the first field that is wrong."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(name, _field_path(data, first["loc"]), _message(first, model)) from None


def load(model: type[SpecT], path: str | Path) -> SpecT:
    """Read and validate one file."""
    path = Path(path)
    return validate(model, parse_text(read_text(path), str(path)), str(path))


def _field_path(data: object, location: tuple[int | str, ...]) -> str:
    """Dotted path of a field as written in the file: tags of unions are left out, list items are named."""
    path, here = "", data
    for step in location:
        if isinstance(here, dict) and step in here:
            here = here[step]
            path += f".{step}" if path else str(step)
        elif isinstance(here, list | tuple) and isinstance(step, int) and step < len(here):
            here = here[step]
            name = here.get("name") if isinstance(here, dict) else None
            path += f"[{name}]" if isinstance(name, str) else f"[{step}]"
        elif step == location[-1] and isinstance(here, dict) and isinstance(step, str):
            path += f".{step}" if path else step
    return path


def _message(error: Any, model: type[Spec]) -> str:
    kind, message = error["type"], str(error["msg"]).removeprefix("Value error, ")
    if kind == "missing":
        return f"is missing; give it, with its unit if it has one (`planner schema` shows every field)"
    if kind == "extra_forbidden":
        return "is no known field here; correct the name (`planner schema` lists them)"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return f"{message}; set `kind` to one of these"
    given = error.get("input")
    shown = f" (got {given!r})" if isinstance(given, int | float | str) and len(str(given)) < 60 else ""
    return message + ("" if repr(given) in message or str(given) in message else shown)
