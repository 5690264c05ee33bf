"""Who leads, as clients and figures are told."""

from typing import Any

from pydantic import BaseModel

from planner.controller.leadership import Leadership


class LeaseBody(BaseModel):
    """Who leads."""

    is_leading: bool
    """whether it is this controller; else it stands by"""
    term: int
    """of who leads, one more for each that does"""
    leader: str
    """where the leader listens; empty where it has let go, or tells nobody"""
    silent_s: float
    """since it last renewed its lease, as far as was seen"""


def lease_body(leadership: Leadership) -> dict[str, Any]:
    """A `LeaseBody`."""
    watch, journal = leadership.watch, leadership.journal
    watch.look()
    beat = watch.beat
    return {
        "is_leading": not journal.is_reader,
        "term": journal.last_term,
        "leader": beat.url if beat is not None and beat.machine else "",
        "silent_s": watch.silent_s,
    }
