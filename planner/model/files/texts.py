"""Read a JSON or YAML file into a Spec, with errors that name file, field and remedy."""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from costmodel.spec import Spec
from planner.model.errors import InputError
from planner.model.files.readings import misread, readings, warn_of_missing_units
from planner.model.files.strict_yaml import MOST_DIGITS, parse_yaml
from planner.model.validation_messages import TYPES, message, no_mapping, shown_by, truths_for_numbers

MAX_FILE_BYTES = 64 * 2**20
OF_TABS = ("cannot start any token", "violates indentation")
"""ends of what YAML says of a tab that indents"""
SpecT = TypeVar("SpecT", bound=Spec)
FILES = {
    "PageInstance": ("an instance of pages", "`planner pages` reads it"),
    "Plan": ("a plan", "give it where a PLAN is asked for"),
    "Instance": (
        "an instance of a cluster",
        "`planner solve` reads it; `planner pages` shows a job of its plan with --plan",
    ),
    "Cluster": ("a cluster without jobs", "`planner replay --cluster` reads it"),
    "Topology": ("a topology", "`planner synthesize` reads it"),
}
"""what a file is, by the model that reads it, and what it is for"""
REMEDIES = {
    "Instance": "`planner new` writes one to start from",
    "Cluster": "`planner new` writes an instance, whose cluster will do",
    "DemandModel": "`planner trace -o FILE` draws a trace by the numbers of a public one",
    "Mix": "leave it out for a mix of training and serving",
    "FailureModel": "leave it out to replay without failures; `planner schema failures` lists the fields",
    "Prices": "write one first, as instances/replay/prices.yaml; `planner schema prices` lists the fields",
    "Grants": "`planner tokens FILE --new TENANT` makes it",
    "Device": "a device of the catalog needs no file",
}
"""what helps where a file of a kind does not exist; else the schema of the kind"""
_OWN_FIELD = re.compile(r"([a-z_]+(?:\[[^\]]*\])?(?:\.[a-z_]+)*): ")
"""the field that a message of a validator starts with"""


def read_text(
    path: Path,
    *,
    wanted: str = "a .json or .yaml file",
    remedy: str = "give the file that you mean",
    most_bytes: int = MAX_FILE_BYTES,
) -> str:
    """Text of a file; InputError, with what was wanted, for what is no readable, reasonably small UTF-8 file."""
    name = str(path)
    if path.is_dir():
        raise InputError(name, "", f"is a directory; name {wanted} in it")
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except FileNotFoundError:
        raise InputError(name, "", f"does not exist; {remedy}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(name, "", f"cannot be read: {reason}") from None
    if len(data) > most_bytes:
        limit = most_bytes // 2**20
        raise InputError(name, "", f"is larger than {limit} MiB, the most that is read; is it the right file?")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            name, f"byte {error.start}", "is not UTF-8; is it the right file? Save text as UTF-8"
        ) from None
    if not text.strip():
        raise InputError(name, "", f"is empty; {remedy}")
    return text


def parse_text(text: str, name: str) -> dict[str, Any]:
    """Top-level mapping of a JSON or YAML text."""
    data = parse_data(text, name)
    if not isinstance(data, dict):
        raise InputError(name, "", f"holds {_what(data)}, not a mapping of fields")
    return data


def parse_data(text: str, name: str) -> Any:
    """What a JSON or YAML text holds, whatever it is; InputError names the line of what is no such text."""
    is_json = text.lstrip().startswith("{")
    try:
        return json.loads(text, object_pairs_hook=_once_each, parse_int=_integer) if is_json else parse_yaml(text)
    except json.JSONDecodeError as error:
        raise InputError(name, f"line {error.lineno}", f"is no valid JSON: {error.msg}") from None
    except yaml.MarkedYAMLError as error:
        mark, problem = error.problem_mark, error.problem
        if mark is not None and text[mark.index : mark.index + 1] == "\t" and str(problem).endswith(OF_TABS):
            problem = "a tab stands before what it holds; indent by spaces"
        line = "" if mark is None else f"line {mark.line + 1}"
        raise InputError(name, line, f"is no valid YAML: {problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(name, "", f"is no valid {'JSON' if is_json else 'YAML'}: {error}") from None


def _what(data: object) -> str:
    """Content of a file that is none of ours."""
    if isinstance(data, list):
        return "a list"
    if isinstance(data, str) and data.count(",") > 1:
        return "a table (jobs in one become an instance by `planner new --jobs`)"
    return "text" if isinstance(data, str) else "a single value"


def _once_each(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose keys differ."""
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"key '{key}' is given twice; keep one")
        result[key] = value
    return result


def _integer(text: str) -> int:
    """A whole number of JSON."""
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number of {len(text)} characters; give one of at most {MOST_DIGITS}")
    return int(text)


def validate(model: type[SpecT], data: Any, name: str) -> SpecT:
    """The model, or InputError with the first field that is wrong."""
    if not isinstance(data, dict):
        raise InputError(name, "", no_mapping(model, data))
    try:
        made = model.model_validate(data)
    except ValidationError as error:
        found = _kind_of(data)
        if model.__name__ in FILES and found in FILES and found != model.__name__:
            what, remedy = FILES[found]
            raise InputError(name, "", f"is {what}, not {FILES[model.__name__][0]}; {remedy}") from None
        errors = truths_for_numbers(model, data) or error.errors(include_url=False)
        first = _most_telling(data, errors)
        steps = _steps(data, first)
        said = message(first, model, [each for each in errors if _steps(data, each) == steps])
        path = ".".join(steps).replace(".[", "[")
        own = _OWN_FIELD.match(said)
        if own:
            path = f"{path}.{own.group(1)}" if path else own.group(1)
            said = said[own.end() :]
        raise InputError(name, path, said) from None
    for reading in readings(made, data):
        if (problem := misread(reading)) is not None:
            raise InputError(name, reading.path, problem)
    return made


def _kind_of(data: dict[str, Any]) -> str | None:
    """Model that a file is meant for, by keys that no other has."""
    if data.get("kind") == "pages":
        return "PageInstance"
    if "assignments" in data or "plan" in data:
        return "Plan"
    if "cluster" in data:
        return "Instance"
    if "links" in data and "ranks" in data:
        return "Topology"
    return "Cluster" if "fabric" in data and "jobs" not in data else None


def _remedy(model: type[Spec]) -> str:
    """What helps where a file does not exist."""
    return REMEDIES.get(model.__name__, f"write one first; {shown_by(model)} lists the fields")


def read_fields(model: type[Spec], path: str | Path) -> dict[str, Any]:
    """Top-level mapping of the file of a model, not validated."""
    return parse_text(read_text(Path(path), remedy=_remedy(model)), str(path))


def load(model: type[SpecT], path: str | Path, *, part: str | None = None) -> SpecT:
    """Read and validate one file, or what it holds under a key, if it has it. UnitWarning where a unit is missing."""
    data = read_fields(model, path)
    data = data.get(part, data) if part else data
    made = validate(model, data, str(path))
    warn_of_missing_units(made, data, str(path))
    return made


def _most_telling(data: object, errors: Sequence[Any]) -> Any:
    """A misspelled key before what is missing; of the forms that a field may have the one that fits best."""
    unknown = [error for error in errors if error["type"] == "extra_forbidden"]
    first = (unknown or errors)[0]
    path = _steps(data, first)
    same_field = [error for error in errors if _steps(data, error)[: len(path)] == path]
    if unknown or first["type"] == "missing":
        return first
    return max(same_field, key=lambda e: (len(_steps(data, e)), e["type"] not in TYPES))


def _steps(data: object, error: Any) -> list[str]:
    """The way to a field as written in the file: tags of unions are left out, list items are named."""
    path, here, location = [], data, error["loc"]
    for step in location:
        if isinstance(here, dict) and step in here:
            here = here[step]
            path.append(str(step))
        elif isinstance(here, list | tuple) and isinstance(step, int) and step < len(here):
            here = here[step]
            name = here.get("name") if isinstance(here, dict) else None
            path.append(f"[{name if isinstance(name, str) else step}]")
    return [*path, str(location[-1])] if error["type"] == "missing" else path
