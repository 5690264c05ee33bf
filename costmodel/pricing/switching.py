"""Switches between the circuits of one job inside a step: how many there are, and how much of each hides.

Circuits take turns at the wavelengths of tiles, dimension by dimension, or at the ports of rails, those of messages
inside layers, between stages and between replicas (`costmodel.fabrics.turns`). They stand at the innermost ones that
the job has, and each message of others takes a switch there and one back. Operators run between two messages that
follow each other: where these hide switches, as much of each as they take in the mean, less what they hide of messages.
Nothing hides of a switch between two messages of which the second is sent as soon as the first has come.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase
from costmodel.fabrics.turns import Turns, turn_of
from costmodel.parallelism.mappings import DIMENSIONS, Dimension, Floats
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.totals import Totals

THERE_AND_BACK = 2
PIPELINE, DATA = DIMENSIONS[1], DIMENSIONS[2]


@dataclass(frozen=True)
class Switching:
    """Of one accelerator in a step, columns of shape (C,)."""

    repeated: Floats
    """switches inside the bubble"""
    others: Floats
    at_once: Floats
    """of those inside the bubble, switches between two messages without operators"""
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
        return (self.number - self.at_once) * np.minimum(self.window_s, self.switch_s)

    @property
    def shown_s(self) -> tuple[Floats, Floats]:
        """Of all of them, and of those inside the bubble."""
        hidden_s = np.minimum(self.window_s, self.switch_s)
        every = (self.number, self.repeated)
        total_s, repeated_s = (of * self.switch_s - (of - self.at_once) * hidden_s for of in every)
        return total_s, repeated_s


def switching(candidates: Candidates, sums: Totals, fabric: FabricBase, free_s: Floats) -> Switching:
    """Of rows on a fabric; `free_s` is the time of operators that hide no message, (C,)."""
    inside, none = fabric.switching_inside, np.zeros(len(candidates.mapping))
    if inside.switch_s == 0.0 and not fabric.turns:
        return Switching(none, none, none, none, 0.0)
    if fabric.turns:
        repeated, others, at_once = _between_turns(candidates, sums, fabric.turns)
    else:
        repeated, others, at_once = between_dimensions(candidates.mapping, sums)
    if not inside.is_hidden:
        return Switching(repeated, others, at_once, none, inside.switch_s)
    messages = sum((_messages(candidates, sums, fabric.turns, dimension) for dimension in DIMENSIONS), none)
    number = np.maximum(messages, repeated + others)
    window_s = np.divide(free_s, number, out=np.zeros_like(free_s), where=number > 0)
    return Switching(repeated, others, at_once, window_s, inside.switch_s)


def between_dimensions(m: NDArray[np.integer], sums: Totals) -> tuple[Floats, Floats, Floats]:
    """Switches of a step between the circuits of dimensions: those inside the bubble, all others, and those at once.

    What is sent inside layers keeps the circuits of tensor groups, or else those of context groups, between its calls:
    each all-gather or reduce-scatter along context, and each exchange with the experts there and back, switches to its
    own circuits and back. So does a pipeline message between phases of layers, and a data phase beside any other.
    What the last layer sends is handed over at once, and tokens go to experts once tensor groups have reduced them.
    """
    none = np.zeros(len(m))
    counts = [sums.messages[axis].count[m] if axis in sums.messages else none for axis in range(len(DIMENSIONS))]
    tensor, pipeline, data, context, expert = (count > 0 for count in counts)
    layers = tensor | context | expert
    hand_overs, exchanges = counts[1] * (pipeline & layers), counts[4] / 2 * (expert & (tensor | context))
    visits = hand_overs + 2 * counts[3] * (context & tensor) + exchanges
    others = THERE_AND_BACK * counts[2] * (data & (layers | pipeline))
    return THERE_AND_BACK * visits, others, hand_overs + exchanges * tensor


def _between_turns(candidates: Candidates, sums: Totals, turns: Turns) -> tuple[Floats, Floats, Floats]:
    """The same between turns.

    A message between replicas goes as a whole, half an all-reduce by itself, and part by part where messages inside
    layers, which are in another turn, may come between its parts.
    """
    at_home = "layers" if any("layers" in turn for turn in turns) else "pipeline"
    home = next(turn for turn in turns if at_home in turn.split("+"))
    hand_overs, replicas = (_messages(candidates, sums, turns, dimension) for dimension in (PIPELINE, DATA))
    away = [turn_of(turns, dimension) != home for dimension in (PIPELINE, DATA)]
    return THERE_AND_BACK * away[0] * hand_overs, THERE_AND_BACK * away[1] * replicas, away[0] * hand_overs


def _messages(candidates: Candidates, sums: Totals, turns: Turns, dimension: Dimension) -> Floats:
    """Messages of each row along a dimension over circuits, shape (C,); each half of an all-reduce that is called alone
    is one."""
    axis = DIMENSIONS.index(dimension)
    if axis not in sums.messages:
        return np.zeros(len(candidates.mapping))
    is_lit = np.array([bool(plan.wavelengths) for plan in candidates.plans])[candidates.plan[axis]]
    each, halves = sums.messages[axis], 2 if dimension in ("data", "context") else 1
    is_parted = dimension == "data" and any("layers" in turn and "data" not in turn for turn in turns)
    return np.asarray(is_lit * halves * (each.starts if is_parted else each.count).take(candidates.mapping))
