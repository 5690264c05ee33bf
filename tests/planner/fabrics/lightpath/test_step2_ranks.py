"""Blocks on servers: what light of each rank allows, by its wavelengths alone."""

import pytest

from planner.candidates.expand import expand
from planner.fabrics.lightpath.step2_ranks import Ranks
from planner.fabrics.pattern import Choice
from planner.formulation.step_two import Answer, StepTwoLimits, answer
from planner.model.instance import Instance
from tests.planner.cpsat.step1.case import row_of
from tests.planner.small_racks import rack, training

LIMITS = StepTwoLimits(60.0, None, 1, 0)


@pytest.mark.parametrize(
    ("counts", "is_possible"), [((5, 3), True), ((4, 4), True), ((3, 3, 2), True), ((3, 3, 1, 1), False)]
)
def test_wavelengths_of_a_line_alternate(counts: tuple[int, ...], is_possible: bool) -> None:
    """Eight stages, each with two wavelengths to each neighbour, of four in all: two are those that fibers carry, so
    that joints between servers are an even number of stages apart, and at most two servers have an odd number."""
    data = rack(training("x", 8), servers=4, tiles=8, fibers=2, wavelengths_per_fiber=2)
    problem = expand(Instance.parse(data), prune=False)
    row = row_of(problem, 0, pipeline=8, block=1, line=2)
    pattern = {0: Choice(row, False, tuple(enumerate(counts)))}
    ranks = Ranks(problem, pattern, [0], [])
    found: Answer[object] = answer(LIMITS.solver(), ranks.cp, ranks.layouts)
    assert (found.found is not None) == is_possible
    assert found.is_impossible != is_possible
