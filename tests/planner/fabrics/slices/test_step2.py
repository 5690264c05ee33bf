"""Slices of step 1 laid out side by side, or refuted."""

from planner.candidates.expand import expand
from planner.fabrics.pattern import Choice
from planner.fabrics.problem import Problem
from planner.fabrics.slices.step2 import SlicedStepTwo
from planner.formulation.step_two import StepTwoLimits
from tests.planner.fabrics.slices.clusters import TORUS, job, sliced


def pattern_of_slabs(count: int) -> tuple[Problem, dict[int, Choice]]:
    """So many jobs that each take three chips in a row of a torus of 3 x 2 x 2, along x, and one of 2 x 2 x 2."""
    jobs = [job(f"j{k}", 3) for k in range(count)] + [job("cube", 8)]
    problem = expand(sliced(TORUS, *jobs), prune=False)
    pattern = {}
    for j, options in enumerate(problem.options):
        cut = (2, 2, 2) if j == count else (3, 1, 1)
        row = next(r for r, shape in enumerate(options.shapes) if shape.cut == cut and shape.num_parts == 1)
        pattern[j] = Choice(row, False, ((0, 1),))
    return problem, pattern


def test_what_does_not_fit_together_is_refuted() -> None:
    limits = StepTwoLimits(10.0, None, 1, 0)
    problem, pattern = pattern_of_slabs(1)
    assert SlicedStepTwo().realize(problem, pattern, limits).nogood == (0, 1)
    del pattern[1]
    packed = SlicedStepTwo().realize(problem, pattern, limits).assignments
    assert packed is not None
    (assignment,) = packed
    slots = sorted(problem.cluster.fabric.parse_device(name) for name in assignment.devices)
    assert [(server, slot // 4) for server, slot in slots] == [(0, 0), (0, 1), (0, 2)]
