"""Switches between turns of a step: how many there are, and how much of each hides behind operators.

Circuits that take turns at the ports of a job are of three kinds: those of messages inside layers, between stages and
between replicas (`costmodel.fabrics.turns`). The switches stand at the turn of the innermost kind that the job has, and
each message of another turn takes one switch there and one back. Operators run between two messages that follow each
other: behind them as much of a switch hides as they take in the mean, less what they hide of messages.
"""

from dataclasses import dataclass

import numpy as np

from costmodel.fabrics import FabricBase
from costmodel.fabrics.turns import Turns, turn_of
from costmodel.parallelism.mappings import DIMENSIONS, Dimension, Floats
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.totals import Totals

THERE_AND_BACK = 2


@dataclass(frozen=True)
class TurnChanges:
    """Of one accelerator in a step, columns of shape (C,)."""

    repeated: Floats
    """switches inside the bubble"""
    others: Floats
    window_s: Floats
    """of operators, behind which each switch may hide"""
    switch_s: float
    """of one switch"""

    @property
    def number(self) -> Floats:
        return self.repeated + self.others

    @property
    def hidden_s(self) -> Floats:
        """Of all of them; never more than operators run beside the messages that they hide."""
        return self.number * np.minimum(self.window_s, self.switch_s)

    @property
    def shown_s(self) -> tuple[Floats, Floats]:
        """Of all of them, and of those inside the bubble."""
        each_s = np.maximum(self.switch_s - self.window_s, 0.0)
        return self.number * each_s, self.repeated * each_s


def turn_changes(candidates: Candidates, sums: Totals, fabric: FabricBase, free_s: Floats) -> TurnChanges:
    """Of rows on a fabric whose circuits take turns; `free_s` is the time of operators that hide no message, (C,).

    A message between replicas goes as a whole, half an all-reduce by itself, and part by part where messages inside
    layers, which are in another turn, may come between its parts.
    """
    turns = fabric.turns
    messages = {dimension: _messages(candidates, sums, turns, dimension) for dimension in DIMENSIONS}
    in_layers = sum(
        (messages[d] for d in DIMENSIONS if d not in ("pipeline", "data")), np.zeros(len(candidates.mapping))
    )
    at_home = "layers" if any("layers" in turn for turn in turns) else "pipeline"
    home = next(turn for turn in turns if at_home in turn.split("+"))
    visits = {d: messages[d] * (turn_of(turns, d) not in (home, None)) for d in ("pipeline", "data")}
    repeated, others = THERE_AND_BACK * visits["pipeline"], THERE_AND_BACK * visits["data"]
    number = np.maximum(in_layers + messages["pipeline"] + messages["data"], repeated + others)
    window_s = np.divide(free_s, number, out=np.zeros_like(free_s), where=number > 0)
    return TurnChanges(repeated, others, window_s, fabric.phase_change_s())


def _messages(candidates: Candidates, sums: Totals, turns: Turns, dimension: Dimension) -> Floats:
    """Messages of each row along a dimension over circuits that take turns, shape (C,)."""
    axis, none = DIMENSIONS.index(dimension), np.zeros(len(candidates.mapping))
    if axis not in sums.messages or turn_of(turns, dimension) is None:
        return none
    is_lit = np.array([bool(plan.wavelengths) for plan in candidates.plans])[candidates.plan[axis]]
    each, halves = sums.messages[axis], 2 if dimension in ("data", "context") else 1
    is_parted = dimension == "data" and any("layers" in turn and "data" not in turn for turn in turns)
    return np.where(is_lit, halves * (each.starts if is_parted else each.count).take(candidates.mapping), none)
