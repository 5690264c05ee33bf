"""Cubes that are alike: those taken whole come first in the model, whatever servers a plan has them on."""

from planner.candidates.expand import expand
from planner.cpsat.search import pattern_of
from planner.cpsat.step1.model import Model
from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import Problem
from planner.fabrics.slices.step1_variables import slice_variables
from planner.fabrics.slices.symmetry import new_names
from planner.model.instance import Instance
from tests.planner.fabrics.slices.clusters import CUBES, job, sliced


def problem(**fields: object) -> Problem:
    instance: Instance = sliced(CUBES, job("two", 16), job("one", 8), **fields)  # type: ignore[arg-type]
    return expand(instance)


def row_of(known: Problem, j: int) -> int:
    """A row that takes whole cubes."""
    return next(row for row, shape in enumerate(known.options[j].shapes) if shape.cut == (2, 2, 2))


def test_servers_are_renamed_so_that_the_first_jobs_come_first() -> None:
    known = problem()
    free = FreeState.empty(known.cluster)
    placed = [
        free.assign(known.options[0], row_of(known, 0), [(0, 1), (2, 1)]),
        free.assign(known.options[1], row_of(known, 1), [(1, 1)]),
    ]
    assignments = [assignment for assignment in placed if assignment is not None]
    pattern = pattern_of(known, assignments)
    assert new_names(known, pattern) == {0: 0, 2: 1, 1: 2}
    model = Model.build(known)
    model.hint(pattern, assignments)
    hint = dict(zip(model.cp.proto.solution_hint.vars, model.cp.proto.solution_hint.values, strict=True))
    for job_variables, expected in zip(model.variables.jobs, ([1, 1, 0], [0, 0, 1]), strict=True):
        (counts,) = (b for kind, b in job_variables.blocks.items() if kind.cut == (2, 2, 2))
        assert [hint[count.index] for count in counts] == expected
    slices = slice_variables(model.variables).places
    taken = {server: hint[places[0].taken.index] for (server, cut), places in slices.items() if cut == (2, 2, 2)}
    assert taken == {0: 1, 1: 1, 2: 1}


def test_servers_with_failures_keep_their_names() -> None:
    known = problem(health={"failed_tiles": ["s1.c3"]})
    assert new_names(known, {}) == {0: 0, 1: 1, 2: 2}
