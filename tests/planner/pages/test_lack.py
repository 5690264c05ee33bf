"""What lacks where pages fit nowhere."""

from dataclasses import replace

from planner.pages.lack import lacking
from tests.costmodel.dataflow.streams.cases import chain
from tests.planner.page_cases import problem_of, task_of

PROGRAM = chain([1, 1, 1], [1, 1, 1], [6, 4, 2])


def test_a_job_that_does_not_fit_is_named_with_its_largest_tensor() -> None:
    problem = problem_of(task_of(PROGRAM, [1.0], 1, may_remake=False), capacity=[4])
    (line,) = lacking(problem)
    assert line.startswith("a lacks 7 pages")
    assert "12 pages" in line
    assert "4 pages" in line
    assert line.endswith("has 6 pages (6e-09 GB)")


def test_what_may_be_made_again_and_what_is_never_full_lacks_nothing() -> None:
    assert list(lacking(problem_of(task_of(PROGRAM, [1.0], 0, may_remake=True), capacity=[0]))) == []
    assert list(lacking(problem_of(task_of(PROGRAM, [1.0], 0, may_remake=False), capacity=[None]))) == []


def test_jobs_that_fit_alone_may_not_fit_together() -> None:
    one = task_of(PROGRAM, [1.0], 0, may_remake=False)
    problem = problem_of(one, replace(one, name="b"), capacity=[20])
    (line,) = lacking(problem)
    assert line.startswith("all jobs together lack 4 pages")
