"""Arguments of public calls: one of a wrong type is told at once, with the remedy."""

from collections.abc import Iterable
from pathlib import Path

from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Plan


def require_instance(call: str, value: object) -> None:
    """InputError where an argument is no Instance."""
    if not isinstance(value, Instance):
        remedy = "read the file first: Instance.load(path)" if isinstance(value, str | Path) else "give an Instance"
        raise InputError(call, "instance", f"is a {type(value).__name__}, not an Instance; {remedy}")


def require_plan(call: str, value: object, name: str = "plan") -> None:
    """InputError where an argument is no Plan."""
    if not isinstance(value, Plan):
        remedy = "read the file first: Plan.load(path)" if isinstance(value, str | Path) else "give a Plan"
        raise InputError(call, name, f"is a {type(value).__name__}, not a Plan; {remedy}")


def require_names(call: str, value: Iterable[object], name: str) -> None:
    """InputError where a list of names is a single text, or holds what is no name."""
    if isinstance(value, str) or not all(isinstance(each, str) for each in value):
        raise InputError(call, name, f"is {value!r}; give a list of names, as in ['s0.t0']")
