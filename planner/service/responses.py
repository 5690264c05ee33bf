"""Answers as JSON, and refusals in one form: where, which field, what is wrong."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json
from starlette.responses import Response

from planner.model.errors import InputError, UnwrittenError

BUSY_S = 1
"""after which who found the queue full, or came too often, is asked to come again"""
MOST_CHARACTERS = 2000
"""of one text of a refusal"""


class Json(Response):
    """A JSON body; numbers that JSON cannot write are null."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return to_json(content, by_alias=True, inf_nan_mode="null")


def refusal(status: int, where: str, field: str, problem: str, headers: Mapping[str, str] | None = None) -> Json:
    """The answer to a refused request, in the one form of all: where, field and problem."""
    body = {"where": where[:MOST_CHARACTERS], "field": field[:MOST_CHARACTERS], "problem": problem[:MOST_CHARACTERS]}
    return Json(body, status, dict(headers or {}))


def of_input(error: InputError | UnwrittenError, status: int, headers: Mapping[str, str] | None = None) -> Json:
    """The error of a request that cannot be used."""
    return refusal(status, error.where, error.field, error.problem, headers)


def busy() -> Json:
    """429 of a queue that takes no more."""
    return too_many("queue", "too much waits for the controller already")


def too_many(field: str, problem: str) -> Json:
    """429."""
    return refusal(429, "request", field, problem, {"Retry-After": str(BUSY_S)})
