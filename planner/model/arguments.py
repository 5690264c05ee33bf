"""Arguments of public calls: one of a wrong type is told at once, with the remedy."""

import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
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


def require_list(call: str, value: object, name: str, kind: type, example: str) -> None:
    """InputError where an argument is no list of one or more of a kind."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InputError(call, name, f"is a {type(value).__name__}; give a list, as in {example}")
    if not value:
        raise InputError(call, name, f"is empty; give one or more, as in {example}")
    for each in value:
        if not isinstance(each, kind):
            raise InputError(call, name, f"holds a {type(each).__name__}; give a list, as in {example}")


def require_count(call: str, value: object, name: str) -> None:
    """InputError where an argument is no whole number from 1."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 1:
        raise InputError(call, name, f"must be a whole number from 1 (got {value!r})")


def is_finite(value: object) -> bool:
    """Whether an argument is a number, and neither infinite nor none."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
