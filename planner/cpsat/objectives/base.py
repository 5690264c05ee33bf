"""What an objective hands to the search."""

from dataclasses import dataclass

from ortools.sat.python import cp_model

from planner.cpsat.quantize import Scale, scale_for
from planner.cpsat.variables import JobVariables, Variables
from planner.problem import Floats


@dataclass(frozen=True)
class Term:
    """An integer expression worth expression / scale in the objective's own unit."""

    expression: cp_model.LinearExprT
    scale: Scale
    is_maximized: bool
    rounding: float
    """most, in the objective's unit, by which coefficients rounded one by one can shift the sum"""

    def to_float(self, steps: float) -> float:
        return self.scale.to_float(steps)


def sum_over_rows(v: Variables, column: str, *, is_maximized: bool) -> Term:
    """Sum of a column of `JobOptions` over the chosen rows; a staying resident counts its current row."""
    columns: list[Floats] = [getattr(job.options, column) for job in v.jobs]
    largest = max((float(c.max(initial=0.0)) for c in columns), default=0.0)
    total = sum(float(c.max(initial=0.0)) for c in columns)
    scale = scale_for(largest, total, rounds_up=is_maximized)
    expression = sum(_of_job(job, values, scale) for job, values in zip(v.jobs, columns, strict=True))
    return Term(expression, scale, is_maximized, (len(v.jobs) + 1) * scale.resolution)


def _of_job(job: JobVariables, values: Floats, scale: Scale) -> cp_model.LinearExprT:
    coefficients = scale.to_ints(values)
    expression = sum(c * row for c, row in zip(coefficients, job.rows, strict=True))
    if job.stay is not None:
        assert job.options.current is not None
        expression += coefficients[job.options.current] * job.stay
    return expression
