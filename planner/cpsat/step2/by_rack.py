"""Jobs over several racks in step 2: their parts are realised as jobs of their own, then joined by circuits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.cpsat.step2.rack_circuits import circuits_between_racks
from planner.fabrics.across_racks import in_racks, joined
from planner.fabrics.pattern import Choice, Pattern
from planner.fabrics.problem import JobOptions, Problem
from planner.formulation.step_two import Realized, StepTwoLimits
from planner.model.plan import Assignment


@dataclass(frozen=True)
class ByRack:
    """A pattern whose jobs over several racks are one job for each rack, behind all others."""

    whole: Problem
    whole_pattern: Pattern
    problem: Problem
    pattern: Pattern
    owners: Sequence[int]
    """job of each part"""

    @classmethod
    def of(cls, problem: Problem, pattern: Pattern) -> "ByRack":
        """The same problem where no job spans racks."""
        options, owners = list[JobOptions](problem.options), list[int]()
        kept: dict[int, Choice] = {}
        for j, choice in pattern.items():
            if choice.stays or problem.options[j].shapes[choice.row].racks == 1:
                kept[j] = choice
                continue
            for part in in_racks(problem.options[j], choice.row, choice.blocks):
                kept[len(options)] = Choice(0, False, tuple(part.blocks))
                options.append(part.options)
                owners.append(j)
        apart = problem if not owners else replace(problem, options=tuple(options))
        return cls(problem, pattern, apart, kept, owners)

    def joined(self, found: Realized, limits: StepTwoLimits) -> Realized:
        """The outcome in terms of the whole jobs."""
        first = len(self.whole.options)
        if found.assignments is None or not self.owners:
            jobs = (self.owners[j - first] if j >= first else j for j in found.nogood)
            return replace(found, nogood=tuple(dict.fromkeys(jobs)))
        by_name = {assignment.job: assignment for assignment in found.assignments}
        parts: dict[int, list[Assignment]] = {}
        for number, owner in enumerate(self.owners):
            parts.setdefault(owner, []).append(by_name.pop(self.problem.options[first + number].job.name))
        staying = [assignment for assignment in by_name.values() if assignment.upper]
        circuits = circuits_between_racks(self.whole, self.whole_pattern, parts, staying, limits)
        if circuits.found is None:
            stays = (j for j, choice in self.whole_pattern.items() if choice.stays)
            return Realized(nogood=(*parts, *stays) if circuits.is_impossible else ())
        whole = [
            joined(self.whole.options[j], self.whole_pattern[j].row, each, circuits.found[j])
            for j, each in parts.items()
        ]
        return Realized((*by_name.values(), *whole))
