"""Variants of instance files: every combination of values of some fields, all valid before anything is solved."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from costmodel.spec import Spec
from planner.model import files
from planner.model.errors import InputError
from planner.model.files.strict_yaml import parse_yaml
from planner.model.instance import Instance
from planner.model.job_table import with_jobs_listed

MOST_VARIANTS = 10_000
NEAREST = 3
"""fields named where one is wrong"""
_STEPS = re.compile(r"\.?([^.\[\]]+)|(\[[^\]]+\])")


@dataclass(frozen=True)
class Axis:
    """A field of instance files, such as cluster.fabric.fibers or jobs[chat].weight, and the values it takes."""

    path: str
    values: tuple[Any, ...]
    """as YAML has them"""

    @property
    def steps(self) -> tuple[str, ...]:
        """The way to the field: keys, and names or numbers of items in brackets."""
        return tuple(key or item for key, item in _STEPS.findall(self.path))


@dataclass(frozen=True)
class Variant:
    """An instance file with some fields replaced."""

    where: str
    """the file, and what is replaced"""
    parameters: Mapping[str, Any]
    """value by path"""
    instance: Instance
    base: Instance
    """the file as it is written"""


def parse_axis(text: str, option: str = "--grid") -> Axis:
    """An axis given as path=value,value,..."""
    path, equals, given = (part.strip() for part in text.partition("="))
    if not equals or _STEPS.sub("", path) or not path:
        problem = "is no field with values; write it like cluster.fabric.fibers=1,2,4"
        raise InputError(option, f"'{text}'", problem)
    try:
        values = parse_yaml(f"[{given}]")
    except (yaml.YAMLError, ValueError) as error:
        said = getattr(error, "problem", None) or error
        raise InputError(option, path, f"{said}; part values by commas, as in 1,2,4") from None
    if not values:
        raise InputError(option, path, "has no value; write it like cluster.fabric.fibers=1,2,4")
    return Axis(path, tuple(values))


def variants(path: Path, axes: Sequence[Axis]) -> list[Variant]:
    """All combinations of values, the last axis fastest; InputError where a field or a value is wrong."""
    data = files.parse_text(files.read_text(path), str(path))
    base = Instance.of_file(data, path)
    if not axes:
        return [Variant(str(path), {}, base, base)]
    data = with_jobs_listed(data, path)
    found = []
    for values in product(*(axis.values for axis in axes)):
        changed: Any = data
        for axis, value in zip(axes, values, strict=True):
            changed = _replaced(changed, base, axis, axis.steps, value, path)
        parameters = {axis.path: value for axis, value in zip(axes, values, strict=True)}
        where = f"{path} with {', '.join(f'{name}={value}' for name, value in parameters.items())}"
        found.append(Variant(where, parameters, Instance.parse(changed, where), base))
    return found


def require_few(axes: Sequence[Axis], option: str = "--grid") -> None:
    """InputError for a field that is given twice, and for more variants than anyone waits for."""
    paths = [axis.path for axis in axes]
    for path in paths:
        if paths.count(path) > 1:
            raise InputError(option, path, "is given twice; list all its values once")
    number = 1
    for axis in axes:
        number *= len(axis.values)
    if number > MOST_VARIANTS:
        raise InputError(option, "", f"makes {number:,} variants of each instance; the most are {MOST_VARIANTS:,}")


def _replaced(data: Any, spec: object, axis: Axis, steps: Sequence[str], value: Any, file: Path) -> Any:
    """A copy of what a file holds with one field replaced; `spec` is the model of `data`, as far as it is one."""
    if not steps:
        return value
    step, *rest = steps
    if step.startswith("["):
        place = _place(data, step[1:-1], axis, file)
        items = list(data)
        items[place] = _replaced(items[place], _item(spec, place), axis, rest, value, file)
        return items
    if not isinstance(data, dict):
        problem = f"{file}: '{step}' is a field of what the file gives as {data!r}; write its fields out to vary one"
        raise InputError("--grid", axis.path, problem)
    keys = _keys(spec)
    known = {str(key): key for key in data} | {key: key for key in keys if key not in data}
    if step not in known:
        problem = f"{file}: there is no field '{step}'; nearest are {_nearest(step, known)}"
        raise InputError("--grid", axis.path, problem)
    key = known[step]
    inside = getattr(spec, keys.get(step, step), None) if isinstance(spec, Spec) else None
    return {**data, key: _replaced(data.get(key, {}), inside, axis, rest, value, file)}


def _keys(spec: object) -> dict[str, str]:
    """Fields that a file may have here: key -> name in the model."""
    if not isinstance(spec, Spec):
        return {}
    return {field.alias or name: name for name, field in type(spec).model_fields.items()}


def _item(spec: object, place: int) -> object:
    return spec[place] if isinstance(spec, list | tuple) and place < len(spec) else None


def _place(data: Any, name: str, axis: Axis, file: Path) -> int:
    """Number of an item of a list, given by its name or its number from 0."""
    if not isinstance(data, list):
        raise InputError("--grid", axis.path, f"{file}: what '[{name}]' is an item of is no list")
    names = [str(item["name"]) if isinstance(item, dict) and "name" in item else str(i) for i, item in enumerate(data)]
    if name in names:
        return names.index(name)
    if name.isdigit() and int(name) < len(data):
        return int(name)
    raise InputError("--grid", axis.path, f"{file}: there is no item '{name}'; nearest are {_nearest(name, names)}")


def _nearest(given: str, known: Iterable[str]) -> str:
    """Names to take instead: those that hold the given one, or that it holds, then by their letters."""

    def apart(name: str) -> tuple[bool, float]:
        return not (name in given or given in name), -SequenceMatcher(None, given, name).ratio()

    return ", ".join(sorted(known, key=apart)[:NEAREST]) or "none"
