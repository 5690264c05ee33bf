"""How many accelerators were held and how many jobs waited after each of the last events, from the journal alone."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from planner.controller.journal import Record

MOST_MOMENTS = 720
"""of an answer; of more, some are left out evenly, never the last"""
Body = Mapping[str, Any]


class Moment(NamedTuple):
    """After an event."""

    at_s: float
    """on the controller's clock"""
    held: int
    """accelerators of running jobs"""
    waiting: int
    """jobs"""


def history(records: Sequence[Record], held: int, waiting: int) -> list[Moment]:
    """A moment after each event, in their order; `held` and `waiting` are those after the last one.

    What was before an event follows from what was after it and from its decisions, so that no older event is needed.
    Times before the clock was set are moved as it was.
    """
    found, shift_s = list[Moment](), 0.0
    for number in range(len(records) - 1, -1, -1):
        record = records[number]
        found.append(Moment(record.body["at_s"] + shift_s, held, waiting))
        if record.body["e"] == "clock" and number:
            shift_s += record.body["at_s"] - records[number - 1].body["at_s"]
        if "noted" not in record.body:
            held -= sum(map(_taken, record.decisions))
            waiting -= _arrived(record.body) + sum(map(_queued, record.decisions))
    return _thinned(found[::-1])


def columns(moments: Iterable[Moment]) -> dict[str, list[Any]]:
    """Moments as a column for each field."""
    rows = list(moments)
    return {name: [getattr(row, name) for row in rows] for name in Moment._fields}


def _taken(decision: Body) -> int:
    """Accelerators that a decision takes, less those that it gives back."""
    return _size(decision.get("place")) - _size(decision.get("before"))


def _size(place: Body | None) -> int:
    """Accelerators of a place as the journal writes it: server and slot of each in turn."""
    return 0 if place is None else len(place["devices"]) // 2


def _arrived(event: Body) -> int:
    return len(event["jobs"]) if event["e"] == "submit" else 0


def _queued(decision: Body) -> int:
    """Jobs that a decision adds to the queue."""
    if decision["d"] == "start":
        return -1
    if decision["d"] != "stop":
        return 0
    if decision["before"] is None:
        return 0 if decision["waits"] else -1
    return 1 if decision["waits"] else 0


def _thinned(moments: list[Moment]) -> list[Moment]:
    step = -(-len(moments) // MOST_MOMENTS)
    return moments[::-1][::step][::-1] if step > 1 else moments
