"""What was found last, by what was asked."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")


class Recently(Generic[Question, Answer]):
    """Answers to the questions asked last; unlike `lru_cache`, answers that were found otherwise can be put in, and
    many small ones are kept beside few large ones."""

    def __init__(self, most: int, *, most_weight: int = 0, weigh: Callable[[Answer], int] = lambda _: 1) -> None:
        """So many of the last ones are kept, and those before them while all together weigh no more than that."""
        self._most, self._most_weight, self._weigh = most, most_weight, weigh
        self._answers: OrderedDict[Question, Answer] = OrderedDict()
        self._weight = 0
        self._lock = Lock()

    def __contains__(self, question: Question) -> bool:
        return question in self._answers

    def of(self, question: Question, find: Callable[[], Answer]) -> Answer:
        """The answer, found now where it is not known."""
        with self._lock:
            if question in self._answers:
                self._answers.move_to_end(question)
                return self._answers[question]
        answer = find()
        self.keep(question, answer)
        return answer

    def keep(self, question: Question, answer: Answer) -> None:
        """The oldest ones are forgotten."""
        with self._lock:
            if question in self._answers:
                self._weight -= self._weigh(self._answers[question])
            self._answers[question] = answer
            self._answers.move_to_end(question)
            self._weight += self._weigh(answer)
            while len(self._answers) > self._most and self._weight > self._most_weight:
                self._weight -= self._weigh(self._answers.popitem(last=False)[1])
