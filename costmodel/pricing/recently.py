"""What was found last, by what was asked."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")


class Recently(Generic[Question, Answer]):
    """Answers to the questions asked last; unlike `lru_cache`, answers that were found otherwise can be put in."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._answers: OrderedDict[Question, Answer] = OrderedDict()
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
            self._answers[question] = answer
            self._answers.move_to_end(question)
            while len(self._answers) > self._most:
                self._answers.popitem(last=False)
