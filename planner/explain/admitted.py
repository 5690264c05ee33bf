"""An admitted job: where it runs, and what another size would change."""

from collections.abc import Iterator

from planner.candidates.evaluation_share import evaluation_in_words
from planner.candidates.expand import list_options
from planner.candidates.kept_away import kept_away_in_words
from planner.candidates.phase_settings import gain_of_phases, settings_by_phase
from planner.candidates.serving_pools import binding_in_words, pools_in_words
from planner.candidates.turns import turns_in_words
from planner.candidates.wider_links import wider_links_in_words
from planner.explain.cost import cost_of
from planner.explain.explanation import Statement
from planner.explain.whatif_solver import WhatIfSolver
from planner.explain.why_not import what_is_lacking
from planner.explain.words import amount, in_brackets, pace, place
from planner.fabrics import plugin_of
from planner.fabrics.claims import Holdings
from planner.model.edit import only, pinned, required
from planner.model.instance import Instance
from planner.model.phrases import accelerators, listed
from planner.model.plan import Plan
from planner.model.result import difference


def where_it_runs(solver: WhatIfSolver, plan: Plan, name: str) -> str:
    """b runs with 4 accelerators on s0 and s1"""
    return f"{name} runs {place(solver.instance.cluster.fabric, plan[name])}"


def its_pools(instance: Instance, plan: Plan, name: str) -> Iterator[Statement]:
    """The accelerators that run prompts and those that run tokens, what goes between them, where it has both, and which
    of these binds."""
    if pools := pools_in_words(instance.cluster, instance.job(name), plan[name]):
        yield Statement(f"it serves from two pools ({'; '.join(pools)})")
        yield Statement(binding_in_words(instance.cluster, instance.job(name), plan[name]))


def its_second_tier(instance: Instance, plan: Plan, name: str) -> Iterator[Statement]:
    """What it keeps in a second tier, and what binds."""
    if kept := kept_away_in_words(instance.cluster, instance.job(name), plan[name]):
        yield Statement(f"it keeps {kept}")


def its_turns(instance: Instance, plan: Plan, name: str) -> Iterator[Statement]:
    """Circuits that take turns, and what that costs."""
    if turns := turns_in_words(instance.cluster, instance.job(name), plan[name]):
        yield Statement(f"its circuits take turns: {turns}")


def its_links(instance: Instance, plan: Plan, name: str) -> Iterator[Statement]:
    """Links that boards make wider, and what that gains."""
    if links := wider_links_in_words(instance.cluster, instance.job(name), plan[name]):
        yield Statement(f"boards give its links {links}")


def what_is_taken(instance: Instance, plan: Plan, name: str) -> Iterator[Statement]:
    """Of what its servers share by number, that of which nothing is left."""
    claims, holdings = plugin_of(instance.cluster.fabric).claims, Holdings()
    for assignment in plan.assignments:
        holdings.take(assignment.job, claims.of(instance.cluster.fabric, assignment))
    capacity = claims.capacity(instance.cluster)
    own = claims.of(instance.cluster.fabric, plan[name]).counted
    full = [f"{capacity[part]} {part}" for part in own if holdings.counted(part) == capacity[part]]
    if full:
        yield Statement(f"all {listed(full)} are taken")


def what_evaluation_takes(instance: Instance, plan: Plan, name: str) -> Iterator[Statement]:
    """Of the time of a job that trains."""
    if shares := evaluation_in_words(instance.cluster, instance.job(name), plan[name]):
        yield Statement(shares)


def what_phases_gain(instance: Instance, plan: Plan, name: str) -> Iterator[Statement]:
    """Its settings where it changes between phases, and how much faster this is than the best single one."""
    job, configuration = instance.job(name), plan[name].configuration
    settings = settings_by_phase(instance.cluster, job, configuration)
    if settings:
        gain = gain_of_phases(instance.cluster, job, configuration)
        yield Statement(f"it changes between phases ({'; '.join(settings)}): {gain:.1%} faster than with one setting")


def what_sizes_change(solver: WhatIfSolver, plan: Plan, name: str) -> Iterator[Statement]:
    """The next smaller and the next larger size that the job accepts and has a configuration for."""
    options = list_options(solver.instance, solver.instance.job(name))
    listed = {int(n) for n in options.candidates.num_devices}
    sizes = sorted(size for size in listed if size <= solver.instance.cluster.fabric.most_devices_of_a_job)
    now = len(plan[name].devices)
    smaller = [size for size in sizes if size < now][-1:]
    larger = [size for size in sizes if size > now][:1]
    for size in (*smaller, *larger):
        yield _with_size(solver, plan, name, size)


def _with_size(solver: WhatIfSolver, plan: Plan, name: str, size: int) -> Statement:
    """Beside the others as they are if possible, else by the value of the best plan with that size."""
    start, speed = f"with {accelerators(size)}", plan[name].speed
    answer = solver.answer(required(pinned(solver.instance, plan, name), name, accelerators=size))
    if answer.is_possible and answer.plan is not None:
        found = answer.plan[name]
        gain = difference(found.value, plan[name].value)
        worth = f"{amount(abs(gain))} {'more' if gain > 0 else 'less'} value"
        notes = in_brackets(pace(found.speed, speed), worth if gain else "")
        return Statement(f"{start} it fits beside the others{notes}")
    cost = cost_of(solver, plan, name, accelerators=size)
    if cost.is_possible is False:
        return Statement(f"{start} {_never(solver, name, size)}")
    is_proven = answer.is_possible is False
    beside = "it does not fit beside the others" if is_proven else "it was not decided in time"
    if cost.phrase is None or cost.plan is None:
        return Statement(f"{start} {beside}", is_verified=is_proven)
    notes = in_brackets(pace(cost.plan[name].speed, speed))
    return Statement(f"{start}{notes} {beside}; making room costs {cost.phrase}")


def _never(solver: WhatIfSolver, name: str, size: int) -> str:
    """Why no plan has the job with so many accelerators."""
    alone = required(only(solver.instance, name), name, accelerators=size)
    if solver.answer(alone, any_plan=True).is_possible is False:
        return f"it cannot run even with the whole cluster to itself: {what_is_lacking(solver, alone, name, size)}"
    return "it does not fit beside the required jobs and residents"
