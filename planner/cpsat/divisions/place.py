"""Divisions on servers: alone, to see whether circuits allow them at all, and together with all others."""

from collections import Counter
from collections.abc import Sequence

from ortools.sat.python import cp_model

from planner.cpsat.divisions.ways import Way
from planner.cpsat.search import Search
from planner.cpsat.step1.model import Model
from planner.cpsat.step2.fix_configurations import chosen_rows, fix_rows, nogood_of_counts, step_two_limits
from planner.cpsat.step2.realize import realize
from planner.fabrics.pattern import Choice, Pattern
from planner.fabrics.problem import Problem
from planner.formulation.step_two import FOUND, Realized
from planner.formulation.variables import BlockKind
from planner.model.clock import Clock

MAX_ROUNDS = 12
"""placements of the same divisions that are tried"""
NOTHING = Realized()
"""neither found nor refuted"""


def alone(search: Search, way: Way, clock: Clock) -> Realized:
    """A way with nobody else there, on the servers with the most room: what is refuted there is so anywhere."""
    cluster = search.full.cluster
    room = sorted(range(cluster.fabric.num_servers), key=lambda s: -len(cluster.healthy_slots(s)))
    part = search.full.options[way.job].shapes[way.row].part
    blocks = sorted((server, ranks // part) for server, ranks in zip(room, way.division, strict=False))
    pattern: Pattern = {way.job: Choice(way.row, False, tuple(blocks))}
    return realize(search.full, pattern, step_two_limits(search, clock))


def together(search: Search, ways: Sequence[Way], clock: Clock) -> Realized:
    """All ways on servers with circuits; a no-good of all their jobs where no servers will do."""
    rows: Pattern = {way.job: Choice(way.row, False, ()) for way in ways}
    problem = chosen_rows(search.full, rows)
    model = Model.build(problem)
    for nogood in search.nogoods:
        model.add_nogood(nogood)
    fix_rows(search.full, problem, model, rows)
    for way in ways:
        _divide(model, problem, way)
    is_exact = True
    for _ in range(MAX_ROUNDS):
        limits = step_two_limits(search, clock)
        solver = limits.solver()
        status = solver.solve(model.cp)
        if status == cp_model.INFEASIBLE and is_exact:
            return Realized(nogood=tuple(rows))
        if status not in FOUND:
            break
        pattern = model.pattern(solver.value)
        realized = realize(problem, pattern, limits)
        if realized.assignments is not None:
            return realized
        is_exact = is_exact and not realized.is_undecided
        nogood = nogood_of_counts(problem, pattern, realized.nogood or tuple(pattern), None)
        if not realized.is_undecided:
            search.nogoods.append(nogood)
        model.add_nogood(nogood)
        if search.is_stopped or clock.is_over:
            break
    return NOTHING


def _divide(model: Model, problem: Problem, way: Way) -> None:
    """As many servers have so many parts of the job as its division says."""
    shapes = problem.options[way.job].shapes
    kinds = {BlockKind.of(shape) for shape in shapes}
    assert len(kinds) == 1
    kind = kinds.pop()
    for ranks, number in Counter(way.division).items():
        servers = range(problem.cluster.fabric.num_servers)
        literals = [model.count_is(way.job, kind, server, ranks // kind.size) for server in servers]
        model.cp.add(sum(literals) == number)
