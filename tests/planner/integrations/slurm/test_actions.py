"""What a job with a place is told, and when: not before all of it is free, and not once people hold it."""

from dataclasses import replace
from typing import Any

import pytest

from planner.integrations.slurm.actions import reconcile
from planner.integrations.slurm.allocations import Allocation
from planner.integrations.slurm.observed_state import DesiredState, Memory, ObservedState
from planner.integrations.slurm.rows import JobRow
from planner.integrations.switch_drivers import Circuits
from tests.planner.integrations.slurm.executor_cases import LIGHT, SITE
from tests.planner.integrations.slurm.job_requests_cases import ASKS, row

DARK = Allocation({"n0": (0, 1)}, [])
LIT = Allocation({"n0": (0, 1)}, LIGHT)
AT = f"{ASKS}:at={DARK.digest}"


def done(
    rows: dict[int, JobRow], allocation: dict[int, Allocation], place: Allocation | None, applied: dict[str, Circuits]
) -> list[Any]:
    desired = DesiredState({}, {} if place is None else {7: place}, {}, frozenset(), frozenset())
    return [
        (action.do, action.job)
        for action in reconcile(ObservedState(applied, {}, rows, {}, allocation), desired, Memory(), SITE, 0.0)
    ]


@pytest.mark.parametrize("name", ["slurm-8", "by-hand"])
def test_light_of_others_is_waited_for(name: str) -> None:
    """Of a job that is gone, which goes off first, and of one that the planner does not know."""
    assert done({7: row()}, {}, LIT, {name: LIGHT}) == ([("off", 8)] if name == "slurm-8" else [])
    assert done({7: row()}, {}, LIT, {}) == [("tell", 7), ("place", 7), ("release", 7)]


def test_accelerators_of_others_are_waited_for() -> None:
    """They are given back as soon as Slurm has nothing left of the other job, and not while it completes."""
    other = row(job_id=8, state="COMPLETING", is_held=False, nodes="n0")
    allocation = {8: Allocation({"n0": (1, 2)}, [])}
    assert done({7: row(), 8: other}, allocation, DARK, {}) == []
    gone = done({7: row(), 8: replace(other, state="COMPLETED")}, allocation, DARK, {})
    assert gone == [("forget", 8), ("tell", 7), ("place", 7), ("release", 7)]


def test_who_may_start_any_moment_holds_what_it_was_told() -> None:
    """It is held first, marked as stopped by the planner; its lock is kept until that is so."""
    waits = row(is_held=False, reason="Resources", admin_comment=AT)
    assert done({7: waits}, {7: DARK}, None, {}) == [("mark", 7), ("hold", 7)]
    assert done({7: row()}, {7: replace(DARK, leaves=True)}, None, {}) == [("forget", 7)]


def test_a_lock_is_kept_while_circuits_are_on() -> None:
    assert done({}, {7: LIT}, None, {"slurm-7": LIGHT}) == [("off", 7)]
    assert done({}, {7: LIT}, None, {}) == [("forget", 7)]


def test_whom_people_requeue_and_hold_stays_held() -> None:
    """It has run since it was told, and the planner has not stopped it."""
    assert done({7: row(restarts=1)}, {7: DARK}, DARK, {}) == [("hold_for_admin", 7)]
    assert done({7: row(restarts=1)}, {7: replace(DARK, leaves=True)}, DARK, {})[0] == ("forget", 7)


def test_a_death_between_lock_and_slurm_is_made_good() -> None:
    """Slurm may know the place already, or not yet."""
    assert done({7: row()}, {7: DARK}, DARK, {}) == [("place", 7), ("release", 7)]
    assert done({7: row(admin_comment=AT)}, {7: DARK}, DARK, {}) == [("release", 7)]
