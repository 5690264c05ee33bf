"""Workloads that are asked for in the same words are one object: a region runs a few dozen, thousands of times each."""

import marshal
from typing import Any

from pydantic import ValidatorFunctionWrapHandler

MOST_KEPT = 4096
_BY_WORDS: dict[bytes, Any] = {}
"""workloads by their fields as given, with the types of the values"""


def shared(given: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """The workload of these fields; the first one where equal ones were asked for before."""
    if not isinstance(given, dict):
        return handler(given)
    try:
        words = marshal.dumps(given, 2)
    except ValueError:
        return handler(given)
    found = _BY_WORDS.get(words)
    if found is None:
        found = handler(given)
        if len(_BY_WORDS) >= MOST_KEPT:
            _BY_WORDS.clear()
        _BY_WORDS[words] = found
    return found
