"""The timed queue gives the order of the published formula, written once more."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from planner.simulate.runs import Jobs
from planner.simulate.wfp_queue import LEAST_S, SIZE_POWER, WfpQueue
from tests.planner.simulate.grounds import cluster, ground

SIZES = [4, 1, 8, 2]
KIND = ground("g", cluster("fat_tree"), [1]).kinds[0, 1]


def _jobs(groups: list[int], priority: list[int]) -> Jobs:
    number = len(groups)
    arrival_s, work_s = [10.0 * job for job in range(number)], [30.0 + 7 * (job % 5) for job in range(number)]
    return Jobs(arrival_s, work_s, [KIND] * number, groups, priority, SIZES)


@given(
    groups=st.lists(st.integers(0, 3), min_size=2, max_size=25),
    gone=st.sets(st.integers(0, 24)),
    now_s=st.floats(0, 1e5),
    barred=st.sets(st.integers(0, 3), max_size=2),
)
def test_the_order_is_priority_then_wait_over_work_and_size(
    groups: list[int], gone: set[int], now_s: float, barred: set[int]
) -> None:
    jobs = _jobs(groups, [group % 2 for group in groups])
    queue = WfpQueue(jobs)
    waiting = [job for job in range(len(groups)) if job not in gone]
    for job in range(len(groups)):
        queue.push(job, jobs.work_s[job])
    for job in gone & set(range(len(groups))):
        queue.remove(job)
    queue.at(now_s)

    def utility(job: int) -> float:
        waited_s = LEAST_S + (now_s - jobs.arrival_s[job] if now_s > jobs.arrival_s[job] else 0)
        return float(SIZES[groups[job]] ** SIZE_POWER * (waited_s / jobs.work_s[job]))

    assert queue.length == len(waiting)
    if not waiting:
        return
    order = [queue.head(), *queue.behind(queue.head(), set())]
    assert sorted(order) == waiting
    for one, other in pairwise(order):
        mine, theirs = (groups[one] % 2, utility(one)), (groups[other] % 2, utility(other))
        assert mine[0] > theirs[0] or (mine[0] == theirs[0] and mine[1] >= theirs[1] * (1 - 1e-12))
    assert list(queue.behind(order[0], barred)) == [job for job in order[1:] if groups[job] not in barred]
    assert queue.smallest() == min(SIZES[groups[job]] for job in waiting)


def test_a_job_that_came_later_overtakes_as_time_passes() -> None:
    jobs = Jobs([0.0, 100.0], [1000.0, 10.0], [KIND] * 2, [0, 0], [0, 0], SIZES)
    queue = WfpQueue(jobs)
    for job, now_s in ((0, 0.0), (1, 100.0)):
        queue.at(now_s)
        queue.push(job, jobs.work_s[job])
    assert queue.head() == 0
    queue.at(110.0)
    assert queue.head() == 1
