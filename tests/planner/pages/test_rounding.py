"""Fractions of tensors become whole pages."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.model.page_instance import PageInstance
from planner.pages.problem import PageProblem
from planner.pages.rounding import Shares, whole_pages
from tests.costmodel.dataflow.streams.cases import chain
from tests.planner.page_cases import fields, task_of


@settings(max_examples=60, deadline=None)
@given(
    moved=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=3, max_size=3),
    rates=st.tuples(st.sampled_from([1.0, 2.0, 3.0]), st.sampled_from([1.0, 2.0])),
)
def test_whole_pages_are_all_there_and_balanced(moved: list[tuple[int, int]], rates: tuple[float, float]) -> None:
    program = chain([1, 1, 1], [1, 1, 1], [24, 30, 36])
    task = task_of(program, list(rates), 99, may_remake=False)
    shares = np.array(moved) / task.count[:, None]
    pages = whole_pages(task, Shares(shares, np.zeros(3)), is_limited=False)
    assert (pages.moved.sum(axis=1) + pages.kept == task.count).all()
    assert pages.moved.sum(axis=1).tolist() == [sum(pair) for pair in moved]
    wanted = pages.moved.sum() * np.array(rates) / sum(rates)
    assert np.abs(pages.moved.sum(axis=0) - wanted).max() <= 1.0


def test_whole_pages_of_a_tensor_with_a_home_are_there() -> None:
    step = {"kind": "transformer", "model": "bert-base", "micro_batch": 1, "sequence": 128, "layers": 2}
    data = fields(step=step | {"tensors": ["weight", "optimizer"]}) | {"page": "1 MiB"}
    task = PageProblem.of(PageInstance.parse(data)).tasks[0]
    shares = np.random.default_rng(0).uniform(0, 0.5, (len(task.count), 2))
    shares[task.home == np.arange(len(task.count))] = 0.5
    assert task.is_at_home(whole_pages(task, Shares(shares, np.zeros(len(task.count))), is_limited=False))
