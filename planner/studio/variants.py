"""What was solved or repaired in a session: plans that the check accepts, or none, each with the file it is of."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from planner.fabrics.problem import Problem
from planner.model.errors import InputError, UnknownError
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import LeftOut, Level, Result, Status
from planner.report import report_html
from planner.report.plan_diff import diff_html
from planner.studies.compare.rows import PolicyRow, row_of
from planner.whatif.plan_changes import changes
from planner.whatif.repair import Repair

MOST_KEPT = 30
"""variants of a session"""
COLUMNS = ("status", "value", "bound", "gap", "admitted", "jobs", "devices_used", "devices_healthy", "power_w",
           "tokens_per_s", "samples_per_s", "joules_per_token", "wall_time_s")  # fmt: skip
"""of the row of a variant that the page shows"""


def digest_of(text: str) -> str:
    """By which the page knows a text again."""
    return hashlib.sha256(text.encode()).hexdigest()


class Origin(NamedTuple):
    """How the pages of a session say where they come from."""

    command: str
    versions: Mapping[str, str]


@dataclass
class SolvedVariant:
    """One outcome; its pages are written when they are asked for."""

    number: int
    name: str
    text: str
    """of the file"""
    instance: Instance
    result: Result
    row: PolicyRow
    best_fit: Plan | None = None
    repair: Repair | None = None
    """what led to it, where it was repaired"""
    is_kept: bool = False
    origin: Origin = field(default_factory=lambda: Origin("", {}))

    @cached_property
    def page(self) -> str:
        """The page that `planner solve --report` writes."""
        return report_html(
            self.instance, self.result, [], command=self.origin.command, versions=self.origin.versions,
            best_fit=self.best_fit,
        )  # fmt: skip

    @property
    def data(self) -> dict[str, Any]:
        """As the page of the studio lists it."""
        return {
            "number": self.number,
            "name": self.name,
            "is_kept": self.is_kept,
            "digest": digest_of(self.text),
            "has_plan": self.result.plan is not None,
            "policy": self.result.policy,
            "repair": None if self.repair is None else repair_data(self.repair),
            **{name: getattr(self.row, name) for name in COLUMNS},
        }


class VariantList:
    """The variants of a session by number: those that are kept, and the newest."""

    def __init__(self) -> None:
        self._by_number: dict[int, SolvedVariant] = {}
        self._last = 0

    def next_number(self) -> int:
        self._last += 1
        return self._last

    def add(self, variant: SolvedVariant, *, beside: int | None = None) -> None:
        """List the newest; others go unless they are kept, or are what it was made of."""
        self._by_number = {number: each for number, each in self._by_number.items() if each.is_kept or number == beside}
        self._by_number[variant.number] = variant

    def __getitem__(self, number: int) -> SolvedVariant:
        """UnknownError where there is none."""
        if number not in self._by_number:
            raise UnknownError("variant", str(number), "is no longer there; solve anew")
        return self._by_number[number]

    def keep(self, number: int, name: str) -> None:
        """Keep a variant by a name of its own; InputError where another has it, or they are too many."""
        kept = [each for each in self._by_number.values() if each.is_kept and each.number != number]
        if any(each.name == name for each in kept):
            raise InputError("variant", name, "is the name of another variant; give another one")
        if len(kept) >= MOST_KEPT:
            raise InputError("variant", name, f"is one too many: {MOST_KEPT} are kept; drop one first")
        variant = self[number]
        variant.name, variant.is_kept = name, True

    def drop(self, number: int) -> None:
        self[number]
        del self._by_number[number]

    @property
    def data(self) -> list[dict[str, Any]]:
        return [each.data for each in self._by_number.values()]


def row_of_result(problem: Problem, result: Result) -> PolicyRow:
    """What a result comes to, beside others."""
    return row_of(problem, {}, result.policy, result, result.wall_time_s)


def result_of_repair(before: Result, found: Repair) -> Result:
    """A repaired plan as a result: levels with values and no bounds."""
    plan = found.plan
    if plan is None:
        return Result(Status.NO_PLAN, "repair", wall_time_s=found.wall_time_s, left_out=before.left_out)
    gone = tuple(LeftOut(job, "gave way to the repair") for job in found.dropped)
    return Result(
        Status.FEASIBLE,
        "repair",
        plan=plan,
        levels=tuple(Level(name, value, None, None, Status.FEASIBLE) for name, value in plan.objectives.items()),
        left_out=(*before.left_out, *gone),
        wall_time_s=found.wall_time_s,
        seed=before.seed,
    )


def repair_data(found: Repair) -> dict[str, Any]:
    """What moves, and what it costs."""
    steps = found.transition
    return {
        "words": found.in_words("{:.4g}".format),
        "failures": [failure.words for failure in found.failures],
        "moves": [[move.job, move.rank, move.source, move.destination] for move in found.moves],
        "torn_down": None if steps is None else steps.num_torn_down,
        "set_up": None if steps is None else steps.num_set_up,
        "stages": None if steps is None else len(steps.stages),
        "time_s": None if steps is None else steps.time_s,
    }


def page_of_two(first: SolvedVariant, second: SolvedVariant) -> str:
    """The page of `planner diff --html`; InputError where the clusters have not the same accelerators."""
    plans = [each.result.plan for each in (first, second)]
    where = f"{first.name} and {second.name}"
    if plans[0] is None or plans[1] is None:
        raise InputError("variants", where, "cannot be compared: one of them has no plan")
    if _shape(first.instance) != _shape(second.instance):
        raise InputError("variants", where, "cannot be drawn on one floor: their clusters have other accelerators")
    return diff_html(second.instance, changes(plans[0], plans[1]), (first.name, second.name))


def _shape(instance: Instance) -> Sequence[object]:
    fabric = instance.cluster.fabric
    return fabric.kind, fabric.num_devices, fabric.devices_per_server
