"""What is left of a job that shrinks, by the pods that stand for it; which Workload of an elastic job counts."""

import json
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner.integrations.kubernetes.elastic import current, left, still_held
from planner.integrations.kubernetes.pod_assignment import JOB, VISIBLE, PodAssignment
from planner.integrations.kubernetes.pods import Pod
from planner.integrations.kubernetes.workloads import REPLACES, Workload


def assignment(number: int) -> PodAssignment:
    """Of the pod of a number: four accelerators, two pods on a node."""
    first = 4 * (number % 2)
    ranks = range(4 * number, 4 * number + 4)
    return PodAssignment(f"n{number // 2}", tuple(range(first, first + 4)), tuple(ranks))


def pod_of(one: PodAssignment, job: str = "team/train") -> Pod:
    about: dict[str, Any] = {"name": json.dumps(one.body()), "namespace": "team"}
    about["annotations"] = {JOB: job, VISIBLE: one.visible}
    return Pod({"metadata": about, "spec": {"nodeName": one.node}})


@given(st.integers(1, 8), st.sets(st.integers(0, 7)), st.integers(0, 9))
def test_what_is_left(number: int, gone: set[int], wanted: int) -> None:
    """Those of the pods that are there, as soon as these are as many as are wanted; pods of others are not counted."""
    now = [assignment(each) for each in range(number)]
    here = [one for each, one in enumerate(now) if each not in gone]
    pods = [*map(pod_of, here), *(pod_of(one, "team/other") for one in now)]
    is_right = 0 < len(here) == wanted < number
    assert left(now, "team/train", pods, wanted) == (here if is_right else [])


@given(st.integers(1, 6), st.sets(st.integers(0, 5)))
def test_pods_keep_the_ranks_that_they_were_told(number: int, kept: set[int]) -> None:
    told = [assignment(each) for each in range(number)]
    of_it = [one for each, one in enumerate(told) if each in kept]
    renumbered = [PodAssignment(one.node, one.indices, tuple(range(4 * n, 4 * n + 4))) for n, one in enumerate(of_it)]
    assert still_held(told, renumbered) == (tuple(of_it) if len(of_it) < number else None)
    assert still_held(told, [*renumbered, PodAssignment("n9", (0, 1, 2, 3), (0, 1, 2, 3))]) is None


def slice_of(number: int, finished: bool, has_quota: bool) -> Workload:
    """Of a chain in which each but the first replaces the one before; all are made in one second."""
    conditions = [{"type": "Finished", "status": str(finished)}, {"type": "QuotaReserved", "status": str(has_quota)}]
    about: dict[str, Any] = {"name": f"s{(7 * number) % 10}", "namespace": "team", "creationTimestamp": "2027-01-15"}
    if number:
        about["annotations"] = {REPLACES: f"team/s{(7 * number - 7) % 10}"}
    return Workload({"metadata": about, "status": {"conditions": conditions}})


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_slice_that_counts(states: list[tuple[bool, bool]], random: Random) -> None:
    """It is not finished while one is not, has quota if one of these has, comes last among its like, in any order."""
    slices = [slice_of(number, *state) for number, state in enumerate(states)]
    live = [number for number, (finished, _) in enumerate(states) if not finished] or [*range(len(states))]
    with_quota = [number for number in live if states[number][1]] or live
    shuffled = random.sample(slices, len(slices))
    found = slices.index(current(shuffled))
    assert found in with_quota
    assert found + 1 not in with_quota, "none that counts as much has replaced it"
