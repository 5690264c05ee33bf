"""A policy of a replay: places jobs one at a time on one state."""

from typing import Protocol

from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass
from planner.fabrics.look_ahead import LookAhead
from planner.fabrics.placement import Placement


class Placer(Protocol):
    """Places jobs on one state."""

    state: FreeState
    is_fixed: bool
    """whether it is known to answer alike whenever the state is the same"""

    def place(self, kind: JobClass) -> Placement | None:
        """A place for a job, taken; None where the policy finds none."""
        ...

    def look(self, kind: JobClass) -> Placement | None:
        """The same place, not taken."""
        placement = self.place(kind)
        if placement is not None:
            self.state.release(placement)
        return placement

    def look_ahead(self, kind: JobClass) -> LookAhead:
        """Tells, as jobs leave, before when it need not look."""
        return LookAhead(kind, self.state.num_free)
