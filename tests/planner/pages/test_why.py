"""Busy streams, waits, and bytes over time, of steps that are known by hand."""

import numpy as np
import pytest

from planner.pages.problem import Pages
from planner.pages.why import bytes_over_time, why
from tests.costmodel.dataflow.streams.cases import chain
from tests.planner.page_cases import problem_of, task_of


def _timeline(kept: int):  # type: ignore[no-untyped-def]
    """Two layers of a second each way; the first makes 6 bytes, one byte a second."""
    problem = problem_of(task_of(chain([1, 1], [1, 1], [6, 1]), [1.0], 7, may_remake=False), capacity=[None])
    moved = np.array([[6 - kept], [0]])
    return problem.timeline(0, Pages(moved, np.array([kept, 1]), np.zeros(2, bool)))


def test_the_busiest_stream_binds_and_waits_are_named() -> None:
    found = why(_timeline(0))
    assert found.busy_s == {"compute": 4.0, "link 0": 12.0}
    assert found.binding == "link 0"
    assert found.waits_for_copies_s == pytest.approx(12.0)
    assert found.longest_waits == (("b1", pytest.approx(12.0)),)
    idle = why(_timeline(6))
    assert (idle.binding, idle.waits_for_copies_s, idle.longest_waits) == ("compute", 0.0, ())


def test_bytes_are_somewhere_from_leaving_to_needing() -> None:
    times_s, found = bytes_over_time(_timeline(2))
    at = {time: {name: size[i] for name, size in found.items()} for i, time in enumerate(times_s.tolist())}
    assert at[0.0] == {"local": 0, "link 0": 0}
    assert max(each["link 0"] for each in at.values()) == 4
    assert max(each["local"] for each in at.values()) == 3
    assert at[float(times_s[-1])] == {"local": 0, "link 0": 0}
