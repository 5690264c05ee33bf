"""Which tasks of an array become jobs, and which of those the controller gets."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.integrations.slurm.actions import reconcile
from planner.integrations.slurm.arrays import first_tasks
from planner.integrations.slurm.formats import job_row
from planner.integrations.slurm.observed_state import DesiredState, Memory, ObservedState
from tests.planner.integrations.slurm.arrays_cases import ASKS, NOTHING, SITE, observed

SAID: dict[str, Any] = {
    "job_id": 7, "job_state": "PENDING", "state_reason": "JobHeldUser", "priority": 0, "user_name": "alice",
    "user_id": 1000, "account": "", "comment": "", "admin_comment": ASKS, "nice": 0, "time_limit": None,
    "submit_time": 1, "eligible_time": 0, "restart_cnt": 0, "requeue": True, "batch_flag": True, "dependency": "",
    "nodes": "", "gres_detail": [], "tres_per_node": "", "tres_per_job": "", "tres_per_socket": "",
    "tres_per_task": "", "array_job_id": 0, "array_task_id": None, "array_task_string": "", "array_max_tasks": 0,
}  # fmt: skip


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 999), st.integers(1, 9), st.integers(1, 5)), min_size=1), st.integers(-1, 50))
def test_the_first_numbers_of_a_list_are_read(parts: list[tuple[int, int, int]], most: int) -> None:
    texts, numbers = [], []
    for low, count, step in parts:
        part = [low + step * each for each in range(count)]
        texts.append(str(low) if count == 1 else f"{low}-{part[-1]}" + (f":{step}" if step > 1 else ""))
        numbers += part
    assert first_tasks(",".join(texts), most) == numbers[: max(0, most)]


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ({}, "7"),
        ({"array_job_id": 7, "array_task_string": "0-3,6-9%4", "array_max_tasks": 4}, "7_[0-3,6-9]"),
        ({"array_job_id": 7, "array_task_string": "5%2", "array_max_tasks": 2}, "7_5"),
        ({"array_job_id": 7, "array_task_id": 0}, "7_0"),
        ({"array_job_id": 3, "array_task_id": 12}, "3_12"),
    ],
)
def test_a_job_is_named_so_that_no_other_is_meant(said: dict[str, Any], address: str) -> None:
    """7 alone would be all tasks of array 7; one task that is left is a job already."""
    found = job_row(SAID | said)
    assert found.address == address
    assert bool(found.tasks) == ("[" in address)


def split(seen: ObservedState) -> list[int]:
    return [action.task for action in reconcile(seen, NOTHING, Memory(), SITE, 0.0) if action.do == "split"]


def test_as_many_tasks_become_jobs_as_could_run() -> None:
    """Four servers of four accelerators hold eight tasks of two."""
    assert split(observed(0, "0-99")) == list(range(8))
    assert split(observed(0, "3-99", "run", "held", "done")) == list(range(3, 9))
    assert split(observed(3, "0-99")) == [0, 1, 2]
    assert split(observed(3, "3-99", "done", "run", "sent")) == [3]
    assert split(observed(2, "3-99", "held", "held", "held")) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"reason": "JobHeldAdmin"},
        {"is_held": False},
        {"dependency": "afterany:5(unfulfilled)"},
        {"eligible_s": 1.0},
        {"admin_comment": ASKS + ":put-off"},
        {"state": "CANCELLED"},
    ],
)
def test_nothing_is_split_off_an_array_that_may_not_run(changes: dict[str, Any]) -> None:
    assert split(observed(0, "0-99", **changes)) == []


def test_the_rest_says_why_its_tasks_wait() -> None:
    def said(seen: ObservedState, **why: str) -> dict[int, str]:
        desired = DesiredState({}, {}, {int(job[1:]): text for job, text in why.items()}, frozenset(), frozenset())
        notes = [action for action in reconcile(seen, desired, Memory(), SITE, 0.0) if action.do == "note"]
        return {action.job: action.comment.partition(" why=")[2] for action in notes}

    assert said(observed(0, "2-9", "run", "held"), j9="no room") == {7: "no room", 9: "no room"}
    limited = "as many tasks of the array run as its limit of 2 lets"
    assert said(observed(2, "2-9", "run", "run")) == {7: limited}
    assert said(observed(2, "3-9", "run", "run", "held")) == {7: limited, 10: limited}
    assert said(observed(0, "8-9", *["run"] * 8)) == {7: "other tasks of the array come before"}
    assert said(observed(2, "0-9")) == said(observed(2, "2-9", "run", "run", eligible_s=1.0)) == {}
