"""What is issued when: the order of copies, which placement and program fix before any time is known."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from costmodel.dataflow.streams.placement import Placement
from costmodel.dataflow.streams.program import Program

Lists = dict[int, list[int]]


@dataclass(frozen=True)
class Orders:
    """Absences by operator, each list in the order of issue; operator -1 is the start of the step."""

    needed: Lists
    """must have come back before the operator starts"""
    remade: Lists
    """are made again right before the operator, one for each operator that runs again"""
    leaving: Lists
    """are copied away when the operator has ended"""
    fetched_at_start: Lists
    """are asked for when the operator starts"""
    fetched_at_end: Lists
    """are asked for when the operator has ended, after what leaves"""


def orders(program: Program, placement: Placement, lookahead: int) -> Orders:
    """A tensor is fetched when the operator starts that comes `lookahead` users before its own; users are operators
    that wait for a tensor. What one operator needs is fetched latest left first, as backward passes need it."""
    if lookahead < 1:
        raise ValueError(f"lookahead: {lookahead} operators ahead; give 1 or more")
    _require_remakes(program, placement)
    absences, needed_at = program.absences, _needed_at(program, placement)
    moves = placement.moved_bytes.sum(axis=1) > 0
    queue = sorted(
        np.flatnonzero(moves & program.returns).tolist(), key=lambda a: (needed_at[a], -absences[a].after, a)
    )
    users = sorted({needed_at[a] for a in queue})
    ahead = dict(zip(users, [-1] * lookahead + users, strict=False))
    asked = [(a, ahead[needed_at[a]]) for a in queue]
    return Orders(
        needed=_grouped((needed_at[a], a) for a in queue),
        remade=_remakes(program, placement),
        leaving=_grouped((absences[a].after, a) for a in np.flatnonzero(moves & program.leaves).tolist()),
        fetched_at_start=_grouped((at, a) for a, at in asked if at > absences[a].after),
        fetched_at_end=_grouped((absences[a].after, a) for a, at in asked if at <= absences[a].after),
    )


def _remakes(program: Program, placement: Placement) -> Lists:
    """One absence for each operator that runs again, before the same user."""
    found: dict[tuple[int, int | None], int] = {}
    for a in np.flatnonzero(placement.is_remade).tolist():
        found.setdefault((program.absences[a].before, program.absences[a].remade_by), a)
    return _grouped((before, a) for (before, _), a in found.items())


def _needed_at(program: Program, placement: Placement) -> list[int]:
    """Operator before which each absence must have ended: its user, or that of a tensor made from it."""
    found = [each.before for each in program.absences]
    for a in np.flatnonzero(placement.is_remade).tolist():
        for source in program.remade_from[a]:
            found[source] = min(found[source], program.absences[a].before)
    return found


def _require_remakes(program: Program, placement: Placement) -> None:
    """ValueError where a tensor cannot be made again, or would be made from one that is made again itself."""
    for a in np.flatnonzero(placement.is_remade).tolist():
        name = program.graph.tensors[program.absences[a].tensor].name
        if not np.isfinite(program.remake_s[a]) or not program.returns[a]:
            raise ValueError(f"is_remade: '{name}' cannot be made again in this step; move or keep it")
        if any(placement.is_remade[source] for source in program.remade_from[a]):
            raise ValueError(f"is_remade: '{name}' and what it is made from are both remade; fetch one of them")


def _grouped(pairs: Iterable[tuple[int, int]]) -> Lists:
    """Second elements by the first, in order."""
    found: Lists = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
