"""Rules that speak of an instance and a plan: those of its fabric, less those about what neither of them has."""

from collections.abc import Callable, Mapping

from planner.checks.every_rule import rules_of
from planner.checks.without_pools import check_no_pool, check_no_switches
from planner.fabrics import plugin_of
from planner.model.instance import Instance
from planner.model.plan import Plan

OF_ABSENT = (check_no_pool, check_no_switches)
"""rules that a fabric has no such parts"""
OF_SOME: Mapping[str, Callable[[Instance, Plan], bool]] = {
    "per_server": lambda instance, _: any(job.constraints.per_server is not None for job in instance.all_jobs),
    "servers_by_rack": lambda instance, _: any(job.constraints.servers_by_rack for job in instance.all_jobs),
    "rack": lambda instance, _: instance.cluster.fabric.racks > 1,
    "residents": lambda instance, _: bool(instance.residents),
    "circuits": lambda instance, plan: instance.cluster.fabric.stage_s > 0 or any(a.circuits for a in plan.assignments),
    "phases": lambda _, plan: any(a.configuration.first_phase or a.configuration.turns for a in plan.assignments),
    "second_tier": lambda instance, plan: instance.placed_steps or any(a.second_tier for a in plan.assignments),
}
"""whether an instance and a plan have what a rule is about"""


def rules_that_speak_of(instance: Instance, plan: Plan) -> list[str]:
    """Names, in the order in which rules are asked. All rules are asked; the others find nothing unless a plan holds
    what its fabric has not."""
    fabric = instance.cluster.fabric
    plugin = plugin_of(fabric)
    absent = plugin.rules.absent(fabric)
    return [
        name
        for name, rule in rules_of(plugin).items()
        if rule not in OF_ABSENT and name not in absent and (name not in OF_SOME or OF_SOME[name](instance, plan))
    ]
