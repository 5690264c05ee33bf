"""How the values of a file were read: truth values that stand for numbers, and numbers without their unit."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, get_args

from costmodel.quantity import Quantity
from costmodel.spec import Spec
from planner.model.errors import UnitWarning

MOST_TOLD = 6
"""numbers without a unit that are told one by one"""


class Reading(NamedTuple):
    """One value of a file beside what became of it."""

    path: str
    given: object
    value: object
    quantity: Quantity | None
    """of the field, if it is one"""


def readings(value: object, given: object, path: str = "", quantity: Quantity | None = None) -> Iterator[Reading]:
    """Values of a file that may be misread, by their place, `given` beside the model `value` that was made of it.

    They are quantities, and truth values. What was not given, and what a name stands for (a device of the catalog), is
    left out.
    """
    if isinstance(value, int | float | str):
        if quantity is not None or isinstance(given, bool):
            yield Reading(path, given, value, quantity)
    elif isinstance(value, Spec) and isinstance(given, Mapping):
        fields = _fields(type(value))
        for _, name, key, unit in sorted({fields[each] for each in given if each in fields}):
            raw, inner = given[key if key in given else name], getattr(value, name)
            if unit is not None or isinstance(raw, bool) or not isinstance(inner, int | float | str):
                yield from readings(inner, raw, f"{path}.{key}" if path else key, unit)
    elif isinstance(value, Mapping) and isinstance(given, Mapping):
        for key, inner in value.items():
            if key in given:
                yield from readings(inner, given[key], f"{path}.{key}", quantity)
    elif isinstance(value, list | tuple) and isinstance(given, list | tuple) and len(value) == len(given):
        for index, (inner, raw) in enumerate(zip(value, given, strict=True)):
            yield from readings(inner, raw, f"{path}[{_label(raw, index)}]", quantity)


def misread(reading: Reading) -> str | None:
    """What is wrong with a value that fits its type: a truth value for a number, or a size that no hardware has."""
    _, given, value, quantity = reading
    if isinstance(given, bool):
        return None if isinstance(value, bool | str) else f"must be a number (got {str(given).lower()})"
    if quantity is None or not isinstance(value, float) or not isinstance(given, int | float | str):
        return None
    return quantity.impossible(given, value)


def warn_of_missing_units(value: Spec, given: Mapping[str, Any], name: str) -> None:
    """One UnitWarning that says how numbers without a unit were read; 0 needs none."""
    found = [
        f"{path} {quantity.shown(read)}"
        for path, raw, read, quantity in readings(value, given)
        if quantity is not None and isinstance(read, float) and read and _is_bare(raw)
    ]
    if found:
        more = f" and {len(found) - MOST_TOLD} more" if len(found) > MOST_TOLD else ""
        said = f"without a unit, read in SI: {', '.join(found[:MOST_TOLD])}{more}; write the unit"
        warnings.warn(f"{name}: {said}", UnitWarning, stacklevel=2)


def _is_bare(raw: object) -> bool:
    if isinstance(raw, str):
        return not raw.strip()[-1:].isalpha()
    return isinstance(raw, int | float)


def _label(raw: object, index: int) -> str:
    name = raw.get("name") if isinstance(raw, dict) else None
    return name if isinstance(name, str) else str(index)


@cache
def _fields(model: type[Spec]) -> dict[str, tuple[int, str, str, Quantity | None]]:
    """Number, name, key in the file and quantity of each field, by its name and by its key."""
    found: dict[str, tuple[int, str, str, Quantity | None]] = {}
    for number, (name, field) in enumerate(model.model_fields.items()):
        key = field.alias or name
        found[name] = found[key] = number, name, key, _quantity_in((field.annotation, *field.metadata))
    return found


def _quantity_in(parts: Sequence[object]) -> Quantity | None:
    """The quantity that annotates a type, or one that it is made of."""
    for part in parts:
        found = part if isinstance(part, Quantity) else _quantity_in(get_args(part))
        if found is not None:
            return found
    return None
