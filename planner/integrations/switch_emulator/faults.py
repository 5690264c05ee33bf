"""Faults by seed: what goes wrong at a request of which class, how often, and what was done."""

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from planner.model.errors import InputError


class RequestClass(StrEnum):
    """What a request asks for."""

    READ = "read"
    WRITE = "write"
    """of single entries and tables"""
    BULK = "bulk"
    """the RPC bulk-update"""


class FaultKind(StrEnum):
    """What goes wrong."""

    HANG = "hang"
    """no answer; whether it was done before is chance"""
    ERROR = "error"
    """an answer 5xx; whether it was done before is chance"""
    HALF = "half"
    """a part is done, and failed_keys names the rest"""
    LIE = "lie"
    """a part is done or all of it, and the reply counts otherwise and names no failed_keys"""
    RESTART = "restart"
    """the switch comes up with an empty table; what asks meanwhile is answered 503"""
    DROP = "drop"
    """a circuit goes by itself: from all tables, or from the hardware alone"""
    CHANGE = "change"
    """a circuit leads to another port by itself"""
    FOREIGN = "foreign"
    """a circuit appears that nobody here asked for"""
    UNTUNED = "untuned"
    """a port that never tunes from now on"""


OF_ITSELF = frozenset((FaultKind.RESTART, FaultKind.DROP, FaultKind.CHANGE, FaultKind.FOREIGN, FaultKind.UNTUNED))
"""what a switch does by itself; it is drawn when a request comes, and done before it"""
OF_BULK = frozenset((FaultKind.HALF, FaultKind.LIE))


@dataclass(frozen=True)
class FaultRate:
    """How likely a kind of fault is at each request of a class."""

    request_class: RequestClass
    kind: FaultKind
    probability: float


@dataclass(frozen=True)
class Mishap:
    """One that has happened."""

    at_s: float
    switch: str
    kind: FaultKind
    what: str


def parse_rates(text: str) -> list[FaultRate]:
    """Of `bulk:half=0.05`, or `drop=0.01` for all classes of requests that can meet it."""
    name, _, share = text.partition("=")
    given, _, kind_name = name.rpartition(":")
    try:
        kind, probability = FaultKind(kind_name), float(share)
        classes = [RequestClass(given)] if given else [*RequestClass]
    except ValueError:
        known = f"{', '.join(RequestClass)}; {', '.join(FaultKind)}"
        raise InputError("--fault", f"'{text}'", f"write it as bulk:half=0.05, of {known}") from None
    if not 0 <= probability <= 1:
        raise InputError("--fault", f"'{text}'", "its probability is not from 0 to 1")
    if kind in OF_BULK:
        if given and classes != [RequestClass.BULK]:
            raise InputError("--fault", f"'{text}'", f"{kind} is of bulk requests alone: write bulk:{kind}={share}")
        classes = [RequestClass.BULK]
    return [FaultRate(each, kind, probability) for each in classes]


class FaultDraw:
    """What goes wrong at each request of one switch."""

    def __init__(self, rates: Sequence[FaultRate], seed: str) -> None:
        self._rates = {
            each: [(rate.kind, rate.probability) for rate in rates if rate.request_class is each]
            for each in RequestClass
        }
        self.random = random.Random(seed)
        self._next: deque[tuple[RequestClass, FaultKind]] = deque()

    def plan(self, request_class: RequestClass, kind: FaultKind) -> None:
        """At the next request of this class, whatever the rates."""
        self._next.append((request_class, kind))

    def stop(self) -> None:
        """Nothing goes wrong from now on."""
        self._rates = {each: [] for each in RequestClass}
        self._next.clear()

    def at(self, request_class: RequestClass) -> list[FaultKind]:
        """Kinds at one request: any that happen by themselves, at most one of the answer."""
        chance = self.random.random
        found = [kind for kind, probability in self._rates[request_class] if chance() < probability]
        if not found and not self._next:
            return []
        for planned in [each for each in self._next if each[0] is request_class]:
            self._next.remove(planned)
            found.append(planned[1])
        answers = [kind for kind in found if kind not in OF_ITSELF]
        return [kind for kind in FaultKind if kind in found and kind in OF_ITSELF] + answers[-1:]
