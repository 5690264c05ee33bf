"""Choices that step 2 neither realised nor refuted in its time: step 1 proposes others, which costs the proof."""

from dataclasses import dataclass, replace

from planner.fabrics.pattern import Choice, Pattern
from planner.fabrics.problem import Problem
from planner.formulation.nogood import Nogood


@dataclass(frozen=True)
class SetAside:
    """Such choices among all candidates, and what forbids them until they are decided."""

    pattern: Pattern
    nogood: Nogood


def renumbered(pattern: Pattern, old: Problem, new: Problem) -> Pattern | None:
    """Choices among the candidates of one problem as those of another one with the same jobs; None where it lacks
    some."""
    found: dict[int, Choice] = {}
    for j, choice in pattern.items():
        row = new.options[j].row_of(old.options[j].candidates.configuration(choice.row))
        if row is None:
            return None
        found[j] = replace(choice, row=row)
    return found
