"""Collectives, run round by round over the circuits of the plan."""

from collections.abc import Iterator

from planner.checks.names import admitted
from planner.checks.pricing import price
from planner.fabrics import plugin_of
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.violation import Violation


def check_rounds(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Every group ends with every chunk reduced once, over circuits in force, in the time charged."""
    rules = plugin_of(instance.cluster.fabric).rules
    for job, assignment in admitted(instance, plan):
        charged = price(instance, job, assignment.configuration)
        if charged is not None:
            yield from rules.simulate(instance, job, assignment, charged)
