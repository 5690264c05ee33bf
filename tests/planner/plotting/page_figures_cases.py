"""Shared by the tests of `page_tensors` and `page_tiers`."""

import numpy as np

from planner.pages.problem import Pages
from tests.costmodel.dataflow.streams.cases import chain
from tests.planner.page_cases import problem_of, task_of

PROGRAM = chain([1, 1, 1], [1, 1, 1], [6, 4, 2])
PROBLEM = problem_of(task_of(PROGRAM, [2.0, 1.0], 6, may_remake=True), capacity=[None, None])
PAGES = Pages(np.array([[2, 1], [0, 0], [1, 1]]), np.array([3, 0, 0]), np.array([False, True, False]))
TIMELINE = PROBLEM.timeline(0, PAGES)
