"""What running jobs would leave free, counted alone: a place is not looked for while a job surely finds none."""

from collections.abc import Iterable, Sequence

from planner.fabrics.job_class import JobClass
from planner.fabrics.placement import Placement


class LookAhead:
    """Counts for one class of jobs while others leave; as given here free devices of the whole cluster."""

    def __init__(self, kind: JobClass, num_free: int) -> None:
        self._missing = kind.held - num_free

    def leave(self, placements: Iterable[Placement]) -> bool:
        """These leave too; False where the class would surely find no place yet."""
        for placement in placements:
            self._missing -= len(placement.held)
        return self._missing <= 0


class LookAheadByRack(LookAhead):
    """The same, and those of each rack: one of them must have what a job takes of a rack at least."""

    def __init__(self, kind: JobClass, num_free: int, free_together: Sequence[int], servers: int) -> None:
        """`free_together`: free devices by rack of so many servers."""
        super().__init__(kind, num_free)
        self._least, self._free, self._servers = kind.least_of_a_rack, [*free_together], servers
        self._is_open = max(free_together) >= self._least

    def leave(self, placements: Iterable[Placement]) -> bool:
        placements = [*placements]
        if not self._is_open:
            free, size = self._free, self._servers
            for placement in placements:
                for server, _ in placement.held:
                    free[server // size] += 1
            self._is_open = max(free) >= self._least
        return super().leave(placements) and self._is_open
