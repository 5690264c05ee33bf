"""Frozen dataclasses that are looked up so often that their hash is worth keeping."""

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any

HASH = "_hash"


class HashedOnce:
    """Base of a frozen dataclass that says `__hash__ = HashedOnce.__hash__`. The hash is not pickled: that of a text is
    another one in each process."""

    def __hash__(self) -> int:
        known: int | None = self.__dict__.get(HASH)
        if known is None:
            known = hash(_values_of(type(self))(self))  # type: ignore[arg-type]
            self.__dict__[HASH] = known
        return known

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != HASH}


@cache
def _values_of(kind: type) -> Callable[[Any], object]:
    """What reads all fields of a dataclass at once."""
    return attrgetter(*(field.name for field in fields(kind)))
