"""Policies: functions from a Problem to a Result, all judged by the same check."""

from collections.abc import Callable
from difflib import get_close_matches
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from planner.fabrics.problem import Problem
from planner.model.errors import InputError
from planner.model.result import Result, SolveOptions
from planner.policies.bcube_slices import bcube_slices
from planner.policies.best_fit import best_fit
from planner.policies.cpsat import cpsat
from planner.policies.first_fit import first_fit
from planner.policies.random_fit import random_fit
from planner.policies.server_aligned import server_aligned
from planner.policies.sipam_loop import sipam_loop
from planner.policies.torus_slices import torus_slices

Policy = Callable[[Problem, SolveOptions], Result]

POLICIES: dict[str, Policy] = {
    "cpsat": cpsat,
    "first_fit": first_fit,
    "best_fit": best_fit,
    "server_aligned": server_aligned,
    "random_fit": random_fit,
    "sipam_loop": sipam_loop,
    "torus_slices": torus_slices,
    "bcube_slices": bcube_slices,
}


def find_policy(name: str | Policy) -> Policy:
    """A policy of this package, or of another distribution by the entry point `planner.policies`; or a function."""
    if not isinstance(name, str):
        if not callable(name):
            problem = f"is a {type(name).__name__}; give a name or a function (Problem, SolveOptions) -> Result"
            raise InputError("policy", "", problem)
        return name
    if name in POLICIES:
        return POLICIES[name]
    outside = outside_policies()
    if name not in outside:
        known = [*POLICIES, *outside]
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InputError("policy", name, f"is unknown; {hint}policies are: {', '.join(known)}")
    try:
        policy: Policy = outside[name].load()
    except (ImportError, AttributeError) as error:
        raise InputError("policy", name, f"{outside[name].value} cannot be imported: {error}") from None
    return policy


def outside_policies() -> dict[str, EntryPoint]:
    """Policies of other distributions by name."""
    return {point.name: point for point in entry_points(group="planner.policies")}


def origin_of(name: str) -> str:
    """The distribution of a policy from outside, its version and a digest of the policy's file; "" for one of ours."""
    if name in POLICIES:
        return ""
    point = outside_policies()[name]
    spec = find_spec(point.module)
    path = Path(spec.origin) if spec is not None and spec.has_location and spec.origin is not None else None
    digest = sha256(path.read_bytes()).hexdigest() if path is not None else ""
    return f"{point.dist.name} {point.dist.version} {digest}" if point.dist is not None else digest
