"""What is left of a job that shrinks, by the pods that stand for it."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner.integrations.kubernetes.elastic import left, still_held
from planner.integrations.kubernetes.pod_assignment import JOB, VISIBLE, PodAssignment
from planner.integrations.kubernetes.pods import Pod


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
