"""What a check reports."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from planner.model.instance import Instance
from planner.model.plan import Plan


@dataclass(frozen=True)
class Violation:
    """One broken rule: its key in CHECKS, the job or part concerned, and by how much it is broken."""

    rule: str
    where: str
    message: str
    excess: float = 1.0
    """in the unit of the rule; 1 where a rule only holds or not"""


Check: TypeAlias = Callable[[Instance, Plan], Iterator[Violation]]
