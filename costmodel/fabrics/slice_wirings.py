"""Which cube follows which in a slice: as in a plain torus, a twisted one, or with shifts by line."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from costmodel.fabrics.boxes import Sides
from costmodel.fabrics.group_plans import GroupPlan, PlanKind
from costmodel.fabrics.line_shifts import LineShifts, Offset
from costmodel.fabrics.twisted import Twist

Wiring = Literal["plain", "twisted", "shifted"]
OVER: Mapping[PlanKind, Wiring] = {
    "twisted": "twisted", "twisted_bucket": "twisted", "shifted": "shifted", "shifted_direct": "shifted",
}  # fmt: skip
"""wiring of plans that are not over a plain torus"""
After = Callable[[Sides], Sequence[int]]
"""for each cube of a slice, the server that the line of an axis through a chip leads to"""


def wiring_of(plans: Sequence[GroupPlan]) -> Wiring | None:
    """The wiring of a job with these plans; None where they are over several, or none of them is an all-to-all, for the
    sake of which alone slices are twisted or shifted."""
    kinds = {plan.kind for plan in plans} - {"none"}
    wirings = {OVER.get(kind, "plain") for kind in kinds} or {"plain"}
    wiring = wirings.pop()
    return wiring if not wirings and (wiring == "plain" or wiring in kinds) else None


def plain_or_twisted(servers: Sequence[int], cubes: Sides, sides: Sides, axis: int, twist: Twist) -> After:
    """The next cube along an axis; at the wraps shifted along others by so many chips."""
    grid = np.array(servers).reshape(cubes)
    after = np.roll(grid, -1, axis)
    for other, shift in twist.get(axis, {}).items():
        last = tuple(slice(-1, None) if i == axis else slice(None) for i in range(3))
        after[last] = np.roll(after[last], -shift // sides[other], other)
    following = after.ravel().tolist()
    return lambda chip: following


def shifted(servers: Sequence[int], shifts: LineShifts, axis: int) -> After:
    """The cube that lies as far off as lines at the chip's place shift."""
    grid, known = np.array(servers).reshape(shifts.cubes), dict[Offset, Sequence[int]]()

    def after(chip: Sides) -> Sequence[int]:
        offset = shifts.offset(axis, chip)
        if offset not in known:
            known[offset] = np.roll(grid, [-step for step in offset], (0, 1, 2)).ravel().tolist()
        return known[offset]

    return after
