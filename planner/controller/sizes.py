"""Memory of an object with all that it alone refers to."""

import gc
import sys
from types import FunctionType, ModuleType
from typing import Any

from pydantic import BaseModel

SHARED = (type, ModuleType, FunctionType, BaseModel)
"""not counted: there is one for all"""
PLAIN = (int, float, str, bytes, bool, type(None))


def num_bytes(root: Any) -> int:
    """Bytes of an object and of what it refers to, each once; more than that where others have parts of it too."""
    seen, left, total = set[int](), [root], 0
    while left:
        each = left.pop()
        if id(each) in seen or isinstance(each, SHARED):
            continue
        seen.add(id(each))
        total += sys.getsizeof(each)
        if not isinstance(each, PLAIN):
            left += gc.get_referents(each)
    return total
