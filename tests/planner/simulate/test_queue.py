"""The grouped queue gives the order of a plain sorted list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.simulate.queue import Queue

steps = st.lists(st.tuples(st.sampled_from(["push", "remove", "behind"]), st.integers(0, 10**6)), max_size=60)


@pytest.mark.slow
@given(steps=steps, groups=st.lists(st.integers(0, 3), min_size=60, max_size=60))
def test_the_order_is_priority_then_arrival(steps: list[tuple[str, int]], groups: list[int]) -> None:
    priority = [group % 2 for group in groups]
    queue, waiting, outside = Queue(groups, priority, [4, 1, 8, 2]), list[int](), list(range(60))
    for step, number in steps:
        if step == "push" and outside:
            job = outside.pop(number % len(outside))
            waiting.append(job)
            queue.push(job, work_s=float(job % 7))
        elif step == "remove" and waiting:
            job = waiting.pop(number % len(waiting))
            outside.append(job)
            queue.remove(job)
        waiting.sort(key=lambda job: (-priority[job], job))
        assert queue.length == len(waiting)
        if not waiting:
            continue
        assert queue.head() == waiting[0]
        assert queue.smallest() == min([4, 1, 8, 2][groups[job]] for job in waiting)
        for group in {groups[job] for job in waiting}:
            assert queue.shortest_s(group) == min(job % 7 for job in waiting if groups[job] == group)
        barred = {number % 5}
        expected = [job for job in waiting[1:] if groups[job] not in barred]
        assert list(queue.behind(waiting[0], barred)) == expected


@given(groups=st.lists(st.integers(0, 2), min_size=2, max_size=30), taken=st.sets(st.integers(0, 29)))
def test_jobs_may_leave_and_groups_be_barred_on_the_way(groups: list[int], taken: set[int]) -> None:
    queue = Queue(groups, [0] * len(groups), [1, 1, 1])
    for job in range(len(groups)):
        queue.push(job, 1.0)
    barred: set[int] = set()
    seen, expected = [], []
    for job in queue.behind(0, barred):
        seen.append(job)
        if job in taken:
            queue.remove(job)
        elif job % 5 == 4:
            barred.add(groups[job])
    closed: set[int] = set()
    for job in range(1, len(groups)):
        if groups[job] not in closed:
            expected.append(job)
            if job not in taken and job % 5 == 4:
                closed.add(groups[job])
    assert seen == expected
