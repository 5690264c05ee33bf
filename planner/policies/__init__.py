"""Policies: functions from a Problem to a Result, all judged by the same check."""

from collections.abc import Callable
from importlib.metadata import entry_points

from planner.errors import InputError
from planner.policies.bcube_slices import bcube_slices
from planner.policies.best_fit import best_fit
from planner.policies.cpsat import cpsat
from planner.policies.first_fit import first_fit
from planner.policies.random_fit import random_fit
from planner.policies.server_aligned import server_aligned
from planner.policies.sipam_loop import sipam_loop
from planner.policies.torus_slices import torus_slices
from planner.problem import Problem
from planner.result import Result, SolveOptions

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


def find_policy(name: str) -> Policy:
    """A policy of this package, or of another distribution by the entry point `planner.policies`."""
    if name in POLICIES:
        return POLICIES[name]
    outside = {point.name: point for point in entry_points(group="planner.policies")}
    if name in outside:
        policy: Policy = outside[name].load()
        return policy
    raise InputError("policy", name, f"is unknown; policies are: {', '.join([*POLICIES, *outside])}")
