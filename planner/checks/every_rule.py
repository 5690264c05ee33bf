"""Feasibility and objectives of a plan, recomputed from instance and plan alone, as RULES.md states them."""

from collections.abc import Iterator, Mapping
from functools import cache, partial

from planner.checks.admission import check_admission
from planner.checks.block import check_block
from planner.checks.circuits import check_circuits
from planner.checks.claims import check_claims
from planner.checks.listed import check_listed
from planner.checks.per_server import check_per_server
from planner.checks.phases import check_phases
from planner.checks.placement import check_placement
from planner.checks.rack import check_rack
from planner.checks.residents import check_residents
from planner.checks.rounds import check_rounds
from planner.checks.servers_by_rack import check_servers_by_rack
from planner.checks.without_pools import check_no_pool, check_no_switches
from planner.fabrics import fabrics, plugin_of
from planner.fabrics.plugin import FabricPlugin
from planner.model.arguments import require_instance, require_plan
from planner.model.collector import resting_collector
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.violation import Check, Violation
from planner.pages.rule_offload import check_second_tier

ON_EVERY_FABRIC: dict[str, Check] = {
    "admission": check_admission,
    "listed": check_listed,
    "placement": check_placement,
    "block": check_block,
    "per_server": check_per_server,
    "rack": check_rack,
    "servers_by_rack": check_servers_by_rack,
    "residents": check_residents,
    "circuits": check_circuits,
    "phases": check_phases,
    "memory_pool": check_no_pool,
    "pool_light": check_no_switches,
    "second_tier": check_second_tier,
    "rounds": check_rounds,
    "claims": check_claims,
}
"""rules that hold on every fabric, unless its plug-in has one of the same name"""


@cache
def rules_of(plugin: FabricPlugin) -> Mapping[str, Check]:
    """Rules of one kind of fabric by name, in the order in which they are asked."""
    rules: dict[str, Check] = {}
    for name, rule in ON_EVERY_FABRIC.items():
        rules.setdefault(name, rule)
        if name == plugin.rules.after:
            rules |= plugin.rules.checks
    return rules


@resting_collector()
def check(instance: Instance, plan: Plan, *, starts: bool = False) -> list[Violation]:
    """Every rule that the plan breaks, by rule in the order of CHECKS; empty for a good plan.

    A plan does not say whether it runs already. `starts`: it was just made, all but residents that stay start with it.
    """
    require_instance("check", instance)
    require_plan("check", plan)
    plugin = plugin_of(instance.cluster.fabric)
    asked = [*rules_of(plugin).values(), *(plugin.rules.starts if starts else ())]
    return [violation for rule in asked for violation in rule(instance, plan)]


def _check_rule(name: str, instance: Instance, plan: Plan) -> Iterator[Violation]:
    """One rule, if the fabric of the instance has it."""
    rule = rules_of(plugin_of(instance.cluster.fabric)).get(name)
    if rule is not None:
        yield from rule(instance, plan)


def _names() -> Iterator[str]:
    for name in ON_EVERY_FABRIC:
        yield name
        for plugin in fabrics().values():
            if plugin.rules.after == name:
                yield from plugin.rules.checks


CHECKS: dict[str, Check] = {name: partial(_check_rule, name) for name in dict.fromkeys(_names())}
"""every rule by name, those of all fabrics; on a fabric that has no such rule it finds nothing wrong"""
