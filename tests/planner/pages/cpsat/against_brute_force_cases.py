"""Shared by the tests of `against_brute_force`."""

from planner.pages.problem import PageProblem, Task
from tests.oracles.mcdla import Away, Ticks
from tests.oracles.pages import Choice, Stretch


def stretches(task: Task) -> list[Stretch]:
    return [
        Stretch(
            int(task.count[a]), each.after + 1, each.before, bool(task.can_be_remade[a]), task.program.remade_from[a]
        )
        for a, each in enumerate(task.program.absences)
    ]


def by_ticks(problem: PageProblem, chosen: tuple[Choice, ...]) -> float:
    """The step tick by tick: times are whole, and links take one or two ticks for a page."""
    (task,) = problem.tasks
    program = task.program
    slow = [round(1 / link.bandwidth_bytes_per_s) for link in task.links]
    aways = []
    for a, (each, (moved, _, again)) in enumerate(zip(program.absences, chosen, strict=True)):
        ticks = [pages * per_page for pages, per_page in zip(moved, slow, strict=True)]
        remade = round(float(program.remake_s[a])) if again else None
        aways.append(Away(each.after, each.before, ticks, remade, list(program.remade_from[a])))
    exchanges = [
        (round(float(takes)), operator.exchange is not None and operator.exchange.is_awaited)
        for takes, operator in zip(program.exchange_s, program.operators, strict=True)
    ]
    operators = [round(float(takes)) for takes in program.operator_s]
    rules = problem.rules
    return Ticks(operators, exchanges, aways, len(slow), rules.lookahead, rules.most_leaving, []).run()
