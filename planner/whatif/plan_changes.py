"""What differs between two plans of one instance: who starts, stops, moves, and whose circuits change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from planner.model.plan import Assignment, Circuit, Plan
from planner.model.resident_plan import is_same
from planner.whatif.transition import circuits_only_in

Kind = Literal["starts", "stops", "moves", "rewired", "stays"]


@dataclass(frozen=True)
class JobChange:
    """One job in both plans; None where it does not run."""

    job: str
    before: Assignment | None
    after: Assignment | None
    torn_down: tuple[Circuit, ...]
    """circuits of the first plan that the second one has not, in the same configuration of their dimension"""
    set_up: tuple[Circuit, ...]

    @property
    def kind(self) -> Kind:
        """`moves`: on other accelerators; `rewired`: on the same ones in another way."""
        if self.before is None or self.after is None:
            return "starts" if self.before is None else "stops"
        if set(self.before.devices) != set(self.after.devices):
            return "moves"
        return "stays" if is_same(self.before, self.after) else "rewired"

    @property
    def taken(self) -> int:
        """Accelerators of the second plan that the job has not in the first."""
        return len(_devices(self.after) - _devices(self.before))

    @property
    def given_up(self) -> int:
        return len(_devices(self.before) - _devices(self.after))


def changes(before: Plan, after: Plan) -> tuple[JobChange, ...]:
    """A change for each job of either plan, in the order of the second one, then of the first."""
    old, new = ({a.job: a for a in plan.assignments} for plan in (before, after))
    return tuple(
        JobChange(
            job,
            old.get(job),
            new.get(job),
            circuits_only_in(old.get(job), new.get(job)),
            circuits_only_in(new.get(job), old.get(job)),
        )
        for job in dict.fromkeys((*new, *old))
    )


def in_words(found: Sequence[JobChange]) -> str:
    """jobs: 2 start, 1 stops, 3 move to 12 other accelerators, 6 stay as they are; circuits: 8 torn down, 10 set up."""
    count = {kind: sum(change.kind == kind for change in found) for kind in ("starts", "stops", "rewired", "stays")}
    moved = [change for change in found if change.kind == "moves"]
    taken = f" to {sum(change.taken for change in moved)} other accelerators" if moved else ""
    parts = [
        _counted(count["starts"], "start", "starts"),
        _counted(count["stops"], "stop", "stops"),
        _counted(len(moved), "move", "moves") + taken,
        _counted(count["rewired"], "are rewired in place", "is rewired in place"),
        _counted(count["stays"], "stay as they are", "stays as it is"),
    ]
    said = [part for part in parts if part]
    torn, laid = (sum(len(getattr(change, name)) for change in found) for name in ("torn_down", "set_up"))
    circuits = f"; circuits: {torn} torn down, {laid} set up" if torn + laid else ""
    return f"jobs: {', '.join(said)}{circuits}" if said else "no job in either plan"


def _devices(assignment: Assignment | None) -> set[str]:
    return set() if assignment is None else set(assignment.devices)


def _counted(number: int, many: str, one: str) -> str:
    return "" if number == 0 else f"{number} {one if number == 1 else many}"
