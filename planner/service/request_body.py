"""JSON that clients send: read up to a limit, strictly, and never deeper or larger than anything here needs."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from math import inf
from typing import Any

from pydantic_core import from_json

from planner.model.errors import InputError

MOST_NUMBER = {bool: 2.0, int: 2**63, float: inf}
"""magnitudes from here on are refused"""
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class OversizedError(Exception):
    """The body is larger than allowed."""


class GoneError(Exception):
    """The client has closed the connection."""


async def read(receive: Receive, most_bytes: int) -> bytes:
    """The whole body, however it is cut up."""
    parts, size, more = list[bytes](), 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise GoneError
        part = message.get("body", b"")
        parts.append(part)
        size, more = size + len(part), message.get("more_body", False)
        if size > most_bytes:
            raise OversizedError
    return b"".join(parts)


def again(body: bytes, receive: Receive) -> Receive:
    """`receive` as if the body had not been read."""
    is_read = False

    async def replay() -> MutableMapping[str, Any]:
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _require_distinct(pairs: list[tuple[str, Any]]) -> None:
    """InputError for an object that says something twice: readers differ in which of both they take."""
    seen = set[str]()
    for name, _ in pairs:
        if name in seen:
            raise InputError("body", name[:100], "is given twice in one object; give it once")
        seen.add(name)


def parse(body: bytes) -> Any:
    """The value of a JSON text; InputError for what is none, or holds numbers or text that nothing here can be."""
    try:
        value = from_json(body, allow_inf_nan=False)
        json.loads(body, object_pairs_hook=_require_distinct)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError("body", "", f"is no valid JSON: {error}") from None
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            left += each.keys()
            left += each.values()
        elif isinstance(each, list):
            left += each
        elif isinstance(each, str) and "\0" in each:
            raise InputError("body", "", "holds a text with a NUL character; leave it out")
        elif isinstance(each, int | float) and not abs(each) < MOST_NUMBER[type(each)]:
            raise InputError("body", "", "holds a number of more than 64 bits; give a smaller one")
    return value
