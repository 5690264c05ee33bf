"""Configurations are chosen: find counts that step 2 can realise, or prove that there are none."""

from dataclasses import replace

import numpy as np
from ortools.sat.python import cp_model

from planner.cpsat.search import Search
from planner.cpsat.step1.model import Model
from planner.cpsat.step1.size import is_buildable
from planner.cpsat.step2.realize import is_beyond_search, realize
from planner.fabrics.pattern import Choice, Pattern
from planner.fabrics.problem import JobOptions, Problem
from planner.formulation.nogood import MostLit, Nogood
from planner.formulation.step_two import FOUND, StepTwoLimits
from planner.formulation.variables import total
from planner.heuristics.ruin_recreate import Effort, recreated
from planner.model.clock import Clock
from planner.model.plan import Assignment

MAX_ROUNDS = 20
"""of counts that step 2 refutes"""
LEAST_REALIZE_S, MOST_REALIZE_S = 0.5, 3.0
"""of wall-clock time for one exact step 2: counts that resist longer are set aside, which costs the proof"""
PLACE_AGAIN_S, PLACE_AGAIN_PATIENCE = 5.0, 100
"""wall-clock time, and rounds without a better plan, for placing the same configurations anew"""
MOST_COUNTS_S, COUNTS_SHARE = 2.0, 0.25
"""wall-clock time, and share of the limits, for finding compact counts: any will do"""


def fix_configurations(search: Search, pattern: Pattern, clock: Clock) -> tuple[Assignment, ...] | None:
    """Assignments with the configurations of a pattern on any counts, or None.

    Counts that need few wavelengths between servers come first. What is proven impossible on the way, the
    configurations themselves included, is kept as no-goods.
    """
    if is_beyond_search(search.problem, pattern):
        return None
    problem = chosen_rows(search.problem, pattern)
    if not is_buildable(problem, clock):
        return None
    model = _compact_model(search, problem, pattern)
    for _ in range(MAX_ROUNDS):
        limits = step_two_limits(search, clock)
        solver = replace(limits, time_limit_s=min(MOST_COUNTS_S, limits.time_limit_s)).solver(COUNTS_SHARE)
        status = solver.solve(model.cp)
        if status == cp_model.INFEASIBLE:
            search.add_nogood(_nogood_of_rows(search.problem, pattern))
            return None
        if status not in FOUND:
            return None
        found = model.pattern(solver.value)
        realized = realize(problem, found, limits)
        if realized.assignments is not None:
            return realized.assignments
        if realized.is_undecided:
            return None
        nogood = nogood_of_counts(problem, found, realized.nogood, None)
        search.add_nogood(nogood)
        model.add_nogood(nogood)
        if search.is_stopped or search.options.counted(clock).is_over:
            return None
    return None


def place_again(search: Search, pattern: Pattern, clock: Clock) -> tuple[Assignment, ...] | None:
    """Where slots matter: the configurations of a pattern wherever ruin and recreate finds room for all, or None."""
    if not search.problem.cluster.fabric.slots_matter:
        return None
    problem = chosen_rows(search.problem, pattern)
    chosen = {j: search.problem.options[j].candidates.configuration(choice.row) for j, choice in pattern.items()}
    wanted = sum(float(search.problem.options[j].value[choice.row]) for j, choice in pattern.items())
    staying = [problem.options[j].staying() for j, choice in pattern.items() if choice.stays]
    effort = Effort.of(search.options, clock.within(PLACE_AGAIN_S), patience=PLACE_AGAIN_PATIENCE)
    *_, found = staying, *recreated(problem, staying, search.options.seed, effort, wanted)
    names = {problem.options[j].job.name: configuration for j, configuration in chosen.items()}
    return tuple(found) if {a.job: a.configuration for a in found} == names else None


def step_two_limits(search: Search, clock: Clock) -> StepTwoLimits:
    return StepTwoLimits(
        time_limit_s=min(max(clock.left_s, LEAST_REALIZE_S), MOST_REALIZE_S),
        deterministic_limit=search.options.deterministic_limit,
        workers=search.workers,
        seed=search.options.seed,
    )


def nogood_of_counts(problem: Problem, pattern: Pattern, jobs: tuple[int, ...], most_lit: MostLit | None) -> Nogood:
    """Step 2 proved it: these jobs of a pattern exclude each other."""
    placed = {j: (problem.options[j].shapes[pattern[j].row], pattern[j].blocks) for j in jobs if not pattern[j].stays}
    return Nogood(placed, tuple(j for j in jobs if pattern[j].stays), most_lit)


def _nogood_of_rows(problem: Problem, pattern: Pattern) -> Nogood:
    """The configurations of a pattern exclude each other, wherever they lie."""
    placed = {j: (problem.options[j].shapes[choice.row], ()) for j, choice in pattern.items() if not choice.stays}
    return Nogood(placed, tuple(j for j, choice in pattern.items() if choice.stays), None)


def chosen_rows(problem: Problem, pattern: Pattern) -> Problem:
    """The problem with nothing but the chosen rows, and the current rows of residents."""

    def rows(options: JobOptions, choice: Choice | None) -> set[int]:
        kept = {options.current} if options.current is not None else set()
        return kept | ({choice.row} if choice is not None else set())

    options = tuple(
        o.take(np.array(sorted(rows(o, pattern.get(j))), dtype=np.int64)) for j, o in enumerate(problem.options)
    )
    return replace(problem, options=options)


def _compact_model(search: Search, problem: Problem, pattern: Pattern) -> Model:
    """Step 1 with the choices fixed, minimizing light between servers and servers touched.

    Jobs that spanned in the pattern are modelled block by block.
    """
    model = Model.build(problem)
    for nogood in search.nogoods:
        model.add_nogood(nogood)
    fix_rows(search.problem, problem, model, pattern)
    for j, choice in pattern.items():
        if len(choice.blocks) > 1:
            shape = search.problem.options[j].shapes[choice.row]
            model.of_fabric.place_blocks(model.cp, model.variables, problem.cluster, j, shape)
    touched = sum(sum(job.touched) for job in model.variables.jobs)
    model.cp.minimize(total([model.variables.of_fabric.spread, touched]))
    return model


def fix_rows(whole: Problem, problem: Problem, model: Model, pattern: Pattern) -> None:
    """The model of `chosen_rows` takes the rows of a pattern of the whole problem, and no others."""
    for j, job in enumerate(model.variables.jobs):
        choice = pattern.get(j)
        if job.stay is not None:
            model.cp.add(job.stay == (choice is not None and choice.stays))
        chosen = None
        if choice is not None and not choice.stays:
            chosen = problem.options[j].row_of(whole.options[j].candidates.configuration(choice.row))
        for row, literal in enumerate(job.rows):
            model.cp.add(literal == (row == chosen))
