"""Fields of files that others write: what is missing or of another kind is an InputError with its place."""

from collections.abc import Mapping
from typing import Any

from planner.model.errors import InputError


def mapping(value: Any, where: str, field: str) -> Mapping[str, Any]:
    """A mapping, empty where there is none."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(where, field, f"is {type(value).__name__}, not a mapping; is it the right file?")
    return value


def items(value: Any, where: str, field: str) -> list[Mapping[str, Any]]:
    """A list of mappings, empty where there is none."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError(where, field, f"is {type(value).__name__}, not a list; is it the right file?")
    return [mapping(each, where, f"{field}[{index}]") for index, each in enumerate(value)]


def text(value: Any, where: str, field: str) -> str:
    """Text that is not empty."""
    if not isinstance(value, str) or not value:
        raise InputError(where, field, "is no text; is it the right file?")
    return value


def words(value: Any) -> list[str]:
    """A list of text; one word where it is no list, none where there is nothing."""
    if value is None:
        return []
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


def count(value: Any, where: str, field: str) -> int:
    """A whole number from 0, as a number or as text."""
    try:
        number = int(str(value))
    except ValueError:
        number = -1
    if number < 0 or isinstance(value, bool):
        raise InputError(where, field, f"{value!r} is no whole number")
    return number
