"""Memory of an object with all that it alone refers to."""

import gc
import sys
from collections.abc import Hashable
from enum import Enum, auto
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

from pydantic import BaseModel

SHARED = (type, ModuleType, FunctionType, BaseModel)
"""not counted: there is one for all"""
PLAIN = (int, float, str, bytes, bool, type(None))


class _Sort(Enum):
    """What an object counts as."""

    SHARED = auto()
    PLAIN = auto()
    COMPOSED = auto()


def num_bytes(root: Any) -> int:
    """Bytes of an object and of what it refers to, each once; more than that where others have parts of it too."""
    seen, left, total = set[int](), [root], 0
    while left:
        each = left.pop()
        if id(each) in seen or (sort := _sort_of(type(each))) is _Sort.SHARED:
            continue
        seen.add(id(each))
        total += sys.getsizeof(each)
        if sort is _Sort.COMPOSED:
            left += gc.get_referents(each)
    return total


@cache
def _sort_of(kind: Hashable) -> _Sort:
    assert isinstance(kind, type)
    if issubclass(kind, SHARED):
        return _Sort.SHARED
    return _Sort.PLAIN if issubclass(kind, PLAIN) else _Sort.COMPOSED
