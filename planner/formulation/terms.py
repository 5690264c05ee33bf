"""The integer term of an objective, and its finer digits."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from ortools.sat.python import cp_model

from planner.fabrics.problem import Floats
from planner.formulation.quantize import Scale, exact, rounded, scale_for
from planner.formulation.variables import JobVariables, Variables, total

Part = tuple[float, cp_model.LinearExprT]
"""amount in the objective's own unit, and 0 or 1: whether it counts"""
FINER = 10**9
"""steps of a finer term in one step of the coarser one"""
MARGIN = 100
"""a term tells amounts apart that are so many times its rounding"""


@dataclass(frozen=True)
class Term:
    """An integer expression worth expression / scale in the objective's own unit.

    A finer term continues a coarser one by one more integer digit, `FINER` times finer: it counts from `low` steps of
    the coarser one, for plans whose sum is near a known one. Digits are of `exact` amounts.
    """

    expression: cp_model.LinearExprT
    scale: Scale
    is_maximized: bool
    rounding: float
    """most, in the objective's unit, by which coefficients rounded one by one can shift the sum"""
    parts: tuple[Part, ...] = ()
    """of which it is the sum, at most one of each job; none where it is no sum"""
    num_jobs: int = 0
    least: float = 0.0
    """smallest amount of a job that decides something; 0 where none does"""
    coarser: "Term | None" = None
    low: int = 0
    unit: Fraction = field(default=Fraction(1))
    """of one step"""

    @property
    def is_fine(self) -> bool:
        """True if every job decides, however small its amounts are beside those of others."""
        return not self.least or self.rounding * MARGIN <= self.least

    def to_float(self, steps: float) -> float:
        if self.coarser is None:
            return self.scale.to_float(steps)
        return float(self._base + Fraction(steps) * self.unit)

    @property
    def _base(self) -> Fraction:
        """Sum at which it begins to count."""
        return Fraction(0) if self.coarser is None else self.coarser._base + self.low * self.coarser.unit

    def steps_of(self, amounts: Sequence[float]) -> int:
        """The value of the expression for a plan with these amounts."""
        digits = sum(self._split(amount)[0] for amount in amounts)
        return digits if self.coarser is None else FINER * (self.coarser.steps_of(amounts) - self.low) + digits

    def is_reached(self, value: float, amounts: Sequence[float] | None, claimed: int) -> bool:
        """True if a plan is as good as so many steps, at the resolution of the term."""
        if self.coarser is not None and amounts is not None:
            own = self.steps_of(amounts)
            return own >= claimed if self.is_maximized else own <= claimed
        bound = self.to_float(claimed)
        return value >= bound - self.rounding if self.is_maximized else value <= bound + self.rounding

    def finer(self, cp: cp_model.CpModel, amounts: Sequence[float]) -> "Term":
        """The next digit, for plans that this term cannot tell from the best one, whose amounts are given.

        Rounding shifts a sum by a step for each job, and what is proven of the best plan by as much again.
        """
        at, jobs = self.steps_of(amounts), self.num_jobs
        low = at - jobs - 1 if self.is_maximized else at - 2 * jobs - 3
        near = cp.new_int_var(0, 3 * jobs + 4, "")
        cp.add(self.expression == near + low)
        fine = Term(
            expression=0, scale=self.scale, is_maximized=self.is_maximized, rounding=self.rounding / FINER,
            parts=self.parts, num_jobs=jobs, least=self.least, coarser=self, low=low, unit=self.unit / FINER,
        )  # fmt: skip
        digits = [fine._split(amount)[0] * literal for amount, literal in self.parts]
        return replace(fine, expression=total([FINER * near, *digits]))

    def _split(self, amount: float) -> tuple[int, Fraction]:
        """Steps of an amount in this digit, and what is left for finer ones."""
        if self.coarser is None:
            digit, rest = self.scale.to_int(amount), exact(amount)
        else:
            rest = self.coarser._split(amount)[1]
            digit = rounded(rest / self.unit, up=self.is_maximized)
        return digit, rest - digit * self.unit


def sum_of(jobs: Sequence[Sequence[Part]], *, is_maximized: bool) -> Term:
    """The sum of the amounts that count, of each job at most one."""
    amounts = [[amount for amount, _ in parts] for parts in jobs]
    most = [max(of_job, default=0.0) for of_job in amounts]
    scale = scale_for(max(most, default=0.0), sum(most), rounds_up=is_maximized)
    parts = tuple(part for of_job in jobs for part in of_job)
    expression: cp_model.LinearExprT = sum(scale.to_int(amount) * literal for amount, literal in parts)
    decides = most if is_maximized else [min(filter(None, of_job), default=0.0) for of_job in amounts]
    return Term(
        expression, scale, is_maximized, (len(jobs) + 1) * scale.resolution, parts, len(jobs),
        min(filter(None, decides), default=0.0), unit=1 / Fraction(scale.steps_per_unit),
    )  # fmt: skip


def sum_over_rows(v: Variables, column: str, *, is_maximized: bool) -> Term:
    """Sum of a column of `JobOptions` over the chosen rows; a staying resident counts its current row."""
    columns: list[Floats] = [getattr(job.options, column) for job in v.jobs]
    jobs = [_of_job(job, values) for job, values in zip(v.jobs, columns, strict=True)]
    return sum_of(jobs, is_maximized=is_maximized)


def _of_job(job: JobVariables, values: Floats) -> list[Part]:
    parts: list[Part] = list(zip(values.tolist(), job.rows, strict=True))
    if job.stay is not None:
        assert job.options.current is not None
        parts.append((float(values[job.options.current]), job.stay))
    return parts
