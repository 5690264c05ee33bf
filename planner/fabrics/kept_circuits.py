"""Answers that are remembered as long as what they are of is kept by somebody else."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

K = TypeVar("K")
V = TypeVar("V")


def while_kept(function: Callable[[K], V]) -> Callable[[K], V]:
    """A function of one hashable object, asked once for all that are equal; it keeps none of them alive."""
    known: WeakKeyDictionary[K, V] = WeakKeyDictionary()

    @wraps(function)
    def ask(of: K) -> V:
        try:
            return known[of]
        except KeyError:
            return known.setdefault(of, function(of))

    return ask
