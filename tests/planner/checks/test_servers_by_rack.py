"""Servers of each rack that a job asks for: allowed, at the boundary, and forbidden."""

from typing import Any

import pytest

from planner.candidates.expand import expand
from planner.model.errors import InputError
from planner.model.result import SolveOptions
from planner.policies import find_policy
from tests.planner.checks.plans import FAT_TREE, broken, edited, instance_of, job

RACKS = FAT_TREE | {"racks": 3, "servers": 3, "gpus_per_server": 1}


def lying(asked: Any, names: str) -> set[str]:
    """Rules that a job of four servers breaks on devices with these servers."""
    devices = tuple(f"{name}.g0" for name in names.split())
    limits = {"per_server": 1, "servers_by_rack": asked}
    anywhere, instance = (
        instance_of(job("a", len(devices), constraints=each), fabric=RACKS) for each in ({"per_server": 1}, limits)
    )
    plan = find_policy("first_fit")(expand(anywhere), SolveOptions()).plan
    assert plan is not None
    return broken(instance, edited(plan, "a", devices=devices))


@pytest.mark.parametrize(
    ("asked", "names", "is_right"),
    [
        ([1, 3], "r0.s0 r2.s0 r2.s1 r2.s2", True),
        ([3, 1], "r0.s0 r0.s1 r1.s0 r0.s2", True),
        ([1, 3], "r0.s0 r0.s1 r2.s0 r2.s1", False),
        ([1, 3], "r0.s0 r1.s0 r2.s0 r2.s1", False),
        ([2, 2], "r0.s0 r0.s1 r2.s0 r2.s1", True),
        ({"min": 2, "max": 2}, "r0.s0 r0.s1 r2.s0 r2.s1", True),
        ({"min": 2, "max": 3}, "r0.s0 r0.s1 r0.s2 r2.s1", False),
        ({"min": 1, "max": 3}, "r0.s0 r0.s1 r0.s2 r2.s1", True),
        ({"max": 2}, "r0.s0 r0.s1 r0.s2 r2.s1", False),
        ([3], "r0.s0 r0.s1 r0.s2", True),
        ([3], "r0.s0 r0.s1 r1.s2", False),
    ],
)
def test_numbers_of_servers(asked: Any, names: str, is_right: bool) -> None:
    assert lying(asked, names) == (set() if is_right else {"servers_by_rack"})


def test_sizes_that_no_numbers_give_are_not_listed() -> None:
    for asked, size in (([1, 3], 5), ([4], 4), ([1, 1, 1, 1], 4), ({"min": 3, "max": 3}, 4)):
        limits = {"per_server": 1, "servers_by_rack": asked}
        assert not len(expand(instance_of(job("a", size, constraints=limits), fabric=RACKS)).options[0])


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"servers_by_rack": [1, 3]}, "needs per_server"),
        ({"per_server": 1, "servers_by_rack": {"min": 3, "max": 2}}, "min 3 is above max 2"),
        ({"per_server": 1, "servers_by_rack": [0, 3]}, "must be at least 1"),
    ],
)
def test_what_cannot_be_asked(limits: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        instance_of(job("a", 4, constraints=limits), fabric=RACKS)
