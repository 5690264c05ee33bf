"""What one more of something would add: each answer is a solve of an instance that has it."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from planner.fabrics import plugin_of
from planner.fabrics.upgrades import Upgrade
from planner.model.arguments import require_instance
from planner.model.edit import failed_parts, repaired, with_objectives
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.job import Reference
from planner.model.plan import Plan
from planner.model.result import BOUND_NOISE, Level, SolveOptions, Status, difference
from planner.pipeline import solve
from planner.whatif.comparable import expand_as, references, rehinted, require_scored_steps

BASE_SHARE = 0.3
"""share of the time limit for the instance as it is"""
MAX_PARTS = 8
"""most failed parts that are asked about one by one"""


@dataclass(frozen=True)
class Marginal:
    """What a change of the cluster adds to the value, proven to lie from `gain` to `gain_at_most`.

    Both agree where the time sufficed. `status` is OPTIMAL then; FEASIBLE where only the interval is known;
    NO_PLAN where no plan was found in time; INFEASIBLE where there is none; NOT_COMPARABLE where a resident
    runs in a configuration that the changed fabric does not have. Gains are None where they are not known,
    as they are where the cluster as it is has no plan.
    """

    change: str
    gain: float | None
    gain_at_most: float | None
    status: str


def marginal(
    instance: Instance,
    *,
    time_limit_s: float = 60.0,
    options: SolveOptions | None = None,
    on_change: Callable[[int, int], None] = lambda done, total: None,
) -> list[Marginal]:
    """What one more of each part that the fabric offers, or a repair, would add, best first.

    Values are sums of weight x g(speed / fastest speed), the fastest speed always being that of a job on the
    cluster as it is: with more peers or a faster switch all speeds rise, and measured against their own
    fastest none would seem to gain. The time limit, in seconds, is shared by all solves. Changes that were not yet
    asked when `should_stop` of the options says so are left out. `on_change` is told how many are done, of how many.
    """
    require_instance("marginal", instance)
    require_scored_steps("marginal", instance)
    started = time.perf_counter()
    options = replace(options or SolveOptions(), on_incumbent=None)
    measured = references(instance)
    base, plan = _value(instance, measured, options, BASE_SHARE * time_limit_s, None)
    upgrades = list(_upgrades(instance, plan))
    found = list[Marginal]()
    for index, upgrade in enumerate(upgrades):
        on_change(index, len(upgrades))
        if options.should_stop():
            break
        left_s = max(time_limit_s - (time.perf_counter() - started), 0.0) / (len(upgrades) - index)
        if options.deterministic_limit is not None:
            left_s = time_limit_s
        try:
            level = None if upgrade.instance is None else _value(upgrade.instance, measured, options, left_s, plan)[0]
        except InputError:
            level = None
        found.append(_compared(upgrade, base, level))
    on_change(len(found), len(upgrades))
    return sorted(found, key=lambda m: (m.gain is None, -(m.gain or 0.0), -(m.gain_at_most or 0.0)))


def _value(
    instance: Instance, measured: dict[str, Reference], options: SolveOptions, limit_s: float, start: Plan | None
) -> tuple[Level, Plan | None]:
    """Value of an instance and the plan that has it, from the plan of the unchanged one if it is one here."""
    problem = expand_as(with_objectives(instance, "value"), measured)
    hint = rehinted(problem, start) if start is not None else None
    result = solve(problem, options=replace(options, time_limit_s=limit_s, hint=hint))
    return result.levels[0], result.plan


def _compared(upgrade: Upgrade, base: Level, level: Level | None) -> Marginal:
    """Interval of the gain from values and bounds of both; rounding of the solver is no gain."""
    change = upgrade.change
    if level is None:
        return Marginal(change, None, None, "NOT_COMPARABLE")
    if level.value is None or base.value is None or level.bound is None or base.bound is None:
        return Marginal(change, None, None, level.status.value)
    if base.status is level.status is Status.OPTIMAL:
        gain = difference(level.value, base.value)
        return Marginal(change, gain, gain, Status.OPTIMAL.value)
    least = difference(level.value, base.bound, BOUND_NOISE)
    if upgrade.is_addition:
        least = max(least, 0.0)
    most = difference(level.bound, base.value, BOUND_NOISE)
    return Marginal(change, least, most, Status.FEASIBLE.value)


def _upgrades(instance: Instance, plan: Plan | None) -> Iterator[Upgrade]:
    """All that the fabric offers, then repairs."""
    yield from plugin_of(instance.cluster.fabric).upgrades.of(instance, plan)
    yield from _repairs(instance)


def _repairs(instance: Instance) -> Iterator[Upgrade]:
    parts = failed_parts(instance)
    for part in parts[:MAX_PARTS]:
        yield Upgrade(f"repair of {part}", repaired(instance, part))
    if len(parts) > 1:
        yield Upgrade("repair of all failed parts", repaired(instance))
