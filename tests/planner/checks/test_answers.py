"""Answers about configurations: found once of equal ones."""

from costmodel.parallelism.configuration import Configuration
from planner.checks.answers import Answers


def test_equal_configurations_share_an_answer() -> None:
    asked: list[int] = []

    def find() -> int:
        asked.append(len(asked))
        return asked[-1]

    answers = Answers[int]()
    one, same, other = (Configuration(tensor=tensor, pipeline=1, data=1, micro_batch=1) for tensor in (2, 2, 4))
    assert not answers.has(one)
    assert [answers.of(each, find) for each in (one, same, one, other)] == [0, 0, 0, 1]
    assert answers.has(same)
    answers.put(Configuration(tensor=8, pipeline=1, data=1, micro_batch=1), 7)
    assert answers.of(Configuration(tensor=8, pipeline=1, data=1, micro_batch=1), find) == 7
