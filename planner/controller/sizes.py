"""Memory of an object with all that it alone refers to."""

import gc
import sys
from enum import Enum, auto
from types import FunctionType, ModuleType
from typing import Any

from pydantic import BaseModel

from costmodel.collectives.plan import CollectivePlan
from costmodel.fabrics import LinkPlan

SHARED = (type, ModuleType, FunctionType, BaseModel, CollectivePlan, LinkPlan)
"""not counted: there is one for all, of the plans one for all groups of as many ranks"""
PLAIN = (int, float, str, bytes, bool, type(None))


class _Sort(Enum):
    """What an object counts as."""

    SHARED = auto()
    PLAIN = auto()
    COMPOSED = auto()


class _Sorts(dict[type, _Sort]):
    """By type, as far as was asked."""

    def __missing__(self, kind: type) -> _Sort:
        plain = _Sort.PLAIN if issubclass(kind, PLAIN) else _Sort.COMPOSED
        return self.setdefault(kind, _Sort.SHARED if issubclass(kind, SHARED) else plain)


_SORTS = _Sorts()


def num_bytes(root: Any) -> int:
    """Bytes of an object and of what it refers to, each once; more than that where others have parts of it too."""
    seen, met, total = set[int](), [root], 0
    while met:
        composed = []
        for each in met:
            if id(each) in seen or (sort := _SORTS[type(each)]) is _Sort.SHARED:
                continue
            seen.add(id(each))
            total += sys.getsizeof(each)
            if sort is _Sort.COMPOSED:
                composed.append(each)
        met = gc.get_referents(*composed)
    return total
