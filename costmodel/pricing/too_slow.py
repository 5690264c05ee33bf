"""How far the candidates of a serving job are from the times that its users accept."""

from typing import NamedTuple

import numpy as np

from costmodel.parallelism.mappings import Bools
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.score import Floats, Scores
from costmodel.serving.limits import WAITING, ServingLimits

DIGITS = 3
"""of a time that is told"""


class LimitedWait(NamedTuple):
    """One time that users wait, of all candidates, and its limit."""

    field: str
    says: str
    times_s: Floats
    limit_s: float

    @property
    def is_met(self) -> Bools:
        return np.asarray(self.times_s <= self.limit_s)


def waits(scores: Scores, limits: ServingLimits) -> list[LimitedWait]:
    """Those that have a limit."""
    every = ("ttft", "first token", scores.ttft_s, limits.ttft_s), ("tpot", "next token", scores.tpot_s, limits.tpot_s)
    return [
        LimitedWait(field, says, times_s, limit_s) for field, says, times_s, limit_s in every if limit_s is not None
    ]


def too_slow(candidates: Candidates, scores: Scores, limits: ServingLimits) -> str:
    """Which limit stands in the way of candidates of which none meets all, and by how much, in words."""
    every = waits(scores, limits)
    alone = [each for each in every if not each.is_met.any()]
    if alone:
        return " and ".join(_nearest(each, np.ones(len(candidates), np.bool_), candidates) for each in alone)
    both = " with ".join(f"{each.field} {WAITING.shown(each.limit_s)}" for each in every)
    first, second = every
    where_first, where_second = _nearest(second, first.is_met, candidates), _nearest(first, second.is_met, candidates)
    return f"no split has {both}: where the first is met, {where_first}; where the second is, {where_second}"


def _nearest(waiting: LimitedWait, rows: Bools, candidates: Candidates) -> str:
    """the first token takes 720 ms at best (tensor 8 x data 2), 44 % over its limit of 500 ms"""
    row = int(np.argmin(np.where(rows, waiting.times_s, np.inf)))
    time_s, m, mappings = float(waiting.times_s[row]), int(candidates.mapping[row]), candidates.mappings
    degrees = (("tensor", mappings.tensor), ("data", mappings.data), ("expert", mappings.expert))
    split = " x ".join(f"{name} {column[m]}" for name, column in degrees if column[m] > 1) or "one accelerator"
    share = time_s / waiting.limit_s
    times = f"{share:,.0f}" if share >= 10 else f"{share:.2g}"
    over = f"{times} times" if share >= 2 else f"{100 * (share - 1):.2g} % over"
    limit = f"its limit of {WAITING.shown(waiting.limit_s)}"
    return f"the {waiting.says} takes {WAITING.shown(rounded_up(time_s))} at best ({split}), {over} {limit}"


def loosened(scores: Scores, limits: ServingLimits) -> list[ServingLimits]:
    """Nearest limits that some candidate meets: one time longer and the other as it is, or both where that needs it."""
    every, found = waits(scores, limits), []
    for waiting in every:
        others = np.logical_and.reduce([each.is_met for each in every if each is not waiting] or [waiting.times_s > 0])
        if others.any() and not (others & waiting.is_met).any():
            found.append({f"{waiting.field}_s": rounded_up(float(waiting.times_s[others].min()))})
    if not found:
        row = int(np.argmin(limits.excess(scores.ttft_s, scores.tpot_s)))
        found = [{f"{each.field}_s": rounded_up(float(each.times_s[row])) for each in every}]
    return [limits.model_copy(update=times) for times in found]


def rounded_up(time_s: float) -> float:
    """To a few digits."""
    scale = 10.0 ** (DIGITS - 1 - int(np.floor(np.log10(time_s))))
    return float(np.ceil(time_s * scale * (1 - 1e-12)) / scale)
