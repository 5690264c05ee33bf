"""Collectives, run round by round over the circuits of the plan."""

from collections.abc import Iterator

from planner.checks.by_rank import each_lie, lies, places
from planner.checks.judged import judged
from planner.checks.names import admitted
from planner.fabrics import plugin_of
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.violation import Violation


def check_rounds(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Every group ends with every chunk reduced once, over circuits in force, in the time charged."""
    rules, whole, found = plugin_of(instance.cluster.fabric).rules, admitted(instance, plan), judged(instance, plan)

    def simulated(j: int) -> Iterator[Violation]:
        charged = found[j].price
        return iter(()) if charged is None else rules.simulate(instance, *whole[j], charged)

    alike = (lies if rules.runs_by_rank else places)(instance, plan)
    keys = [None if lie is None else (lie, id(each.price)) for lie, each in zip(alike, found, strict=True)]
    yield from each_lie(keys, simulated)
