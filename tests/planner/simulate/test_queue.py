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


@given(groups=st.lists(st.integers(0, 2), min_size=2, max_size=30), most=st.integers(0, 12))
def test_so_many_jobs_behind_the_head_are_the_first_ones(groups: list[int], most: int) -> None:
    queue = Queue(groups, [0] * len(groups), [1, 1, 1])
    for job in range(len(groups)):
        queue.push(job, 1.0)
    for barred in (set[int](), {1}, {0, 2}):
        behind = [job for job in range(1, len(groups)) if groups[job] not in barred]
        assert queue.behind(0, barred, most)[:most] == behind[:most]


@given(works_s=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 20)), min_size=1, max_size=12))
def test_groups_are_unable_where_each_of_their_jobs_is(works_s: list[tuple[int, int]]) -> None:
    groups, sizes, fastest = [group for group, _ in works_s], [1, 2, 4, 8], {0: 1.0, 1: 2.0, 2: 0.5, 3: 1.0}
    queue = Queue(groups, [0] * len(groups), sizes)
    for job, (_, work_s) in enumerate(works_s):
        queue.push(job, work_s)
    for free, beyond, left_s in ((8, 4, 10.0), (4, 1, 5.0), (2, 2, 1.0), (8, 0, 8.0)):
        able = {
            group
            for group, work_s in works_s
            if sizes[group] <= free and (sizes[group] <= beyond or work_s / fastest[group] <= left_s)
        }
        assert queue.unable(free, beyond, left_s, fastest) == set(groups) - able
