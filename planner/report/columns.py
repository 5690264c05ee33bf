"""Rows as columns, so that a page of many accelerators stays small: what repeats in a column is written once."""

import json
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

DIGITS = 7
"""significant, of numbers on a page"""


def packed(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Rows with the same keys as `{"count", "columns"}`; `unpack.js` reads them."""
    keys = rows[0].keys() if rows else ()
    return {"count": len(rows), "columns": {key: _column([row[key] for row in rows]) for key in keys}}


def runs(numbers: Sequence[int | None]) -> list[int]:
    """Numbers as pairs of a first one and how many follow each other from it; None is -1, one at a time."""
    found: list[int] = []
    for number in numbers:
        if number is not None and found and found[-2] >= 0 and found[-2] + found[-1] == number:
            found[-1] += 1
        else:
            found += [-1 if number is None else number, 1]
    return found


def steps(numbers: Sequence[int]) -> Any:
    """Numbers as they are; `{"steps"}`, each difference and how often it follows, where that is shorter."""
    found: list[int] = []
    for before, number in pairwise((0, *numbers)):
        if found and found[-2] == number - before:
            found[-1] += 1
        else:
            found += [number - before, 1]
    return min(list(numbers), {"steps": found}, key=_length)


def rounded(value: Any) -> Any:
    """Plain data with its numbers rounded to what a reader can tell apart."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {key: rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list | tuple) else value


def _column(values: list[Any]) -> Any:
    """A list, or `steps`; `{"of", "at"}` with each distinct value once, where that is shorter; `{"rows", "fields"}` for
    mappings, None in other rows."""
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, Mapping) and value.keys() == known[0].keys() for value in known):
        rows = [row for row, value in enumerate(values) if value is not None]
        return {"rows": runs(rows), "fields": packed(known)["columns"]}
    plain = rounded(values)
    keys = [(type(value), value if isinstance(value, Hashable) else json.dumps(value)) for value in plain]
    first = dict(zip(reversed(keys), reversed(plain), strict=True))
    number = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    as_it_is = steps(plain) if all(type(value) is int for value in plain) else plain
    if 2 * len(number) > len(plain):
        return as_it_is
    at = steps([number[key] for key in keys])
    return min(as_it_is, {"of": [first[key] for key in number], "at": at}, key=_length)


def _length(value: Any) -> int:
    return len(json.dumps(value))
