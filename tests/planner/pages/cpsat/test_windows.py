"""Windows of time between places."""

from planner.pages.cpsat.windows import Windows
from tests.costmodel.dataflow.streams.cases import chain
from tests.planner.page_cases import problem_of, task_of


def test_windows_count_what_lies_between_places() -> None:
    program = chain([1] * 6, [1] * 6, [1, 2, 3, 4, 5, 6])
    problem = problem_of(task_of(program, [1.0], 0, may_remake=False), capacity=[None])
    windows = Windows(problem.tasks[0], problem.rules, are_fine=True)
    assert windows.places.tolist() == [*range(-1, 11), 12], "nothing leaves after operator 10 or is needed by 11"
    assert windows.leaves_in.tolist() == [2, 3, 4, 5, 6, 6]
    assert windows.returns_in.tolist() == [10, 9, 8, 7, 6, 6]
    whole = next(each for each in windows if (each.first, each.last) == (0, 12))
    assert (whole.most_bytes, whole.early_bytes, whole.late_bytes) == (42, 0, 0)
    part = next(each for each in windows if (each.first, each.last) == (1, 7))
    assert (part.most_bytes, part.early_bytes, part.late_bytes) == (21 + 11, 11, 6)
    loose = Windows(problem.tasks[0], problem.rules.model_copy(update={"most_leaving": None}), are_fine=True)
    assert next(each for each in loose if (each.first, each.last) == (1, 7)).most_bytes == 11
