"""Feasibility and objectives of a plan, recomputed from instance and plan alone, as RULES.md states them."""

from planner.checks.admission import check_admission
from planner.checks.block import check_block
from planner.checks.circuits import check_circuits
from planner.checks.claims import check_claims
from planner.checks.listed import check_listed
from planner.checks.per_server import check_per_server
from planner.checks.phases import check_phases
from planner.checks.placement import check_placement, check_spared_ports
from planner.checks.rack import check_rack
from planner.checks.residents import check_residents
from planner.checks.rounds import check_rounds
from planner.fabrics.divided_ports.rules import check_shares
from planner.fabrics.lightpath.rule_lasers import check_lasers
from planner.fabrics.lightpath.rule_loss import check_loss
from planner.fabrics.lightpath.rule_path import check_path
from planner.fabrics.lightpath.rule_sharing import check_sharing
from planner.fabrics.lightpath.rule_tile import check_tile
from planner.fabrics.ocs_rail.rules import check_rails
from planner.fabrics.sipam.rule_light import check_pool_light
from planner.fabrics.sipam.rule_memory import check_memory_pool
from planner.fabrics.sipam.rule_network import check_pool_network, check_reserved_uplinks
from planner.fabrics.slices.rule_slices import check_cut
from planner.fabrics.slices.rule_switches import check_switches
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.violation import Check, Violation
from planner.pages.rule_offload import check_second_tier

CHECKS: dict[str, Check] = {
    "admission": check_admission,
    "listed": check_listed,
    "placement": check_placement,
    "block": check_block,
    "per_server": check_per_server,
    "rack": check_rack,
    "residents": check_residents,
    "circuits": check_circuits,
    "tile": check_tile,
    "path": check_path,
    "loss": check_loss,
    "sharing": check_sharing,
    "lasers": check_lasers,
    "rails": check_rails,
    "cut": check_cut,
    "switches": check_switches,
    "phases": check_phases,
    "memory_pool": check_memory_pool,
    "pool_network": check_pool_network,
    "pool_light": check_pool_light,
    "second_tier": check_second_tier,
    "shares": check_shares,
    "rounds": check_rounds,
    "claims": check_claims,
}

STARTS: tuple[Check, ...] = (check_spared_ports, check_reserved_uplinks)
"""asked of jobs that start alone, beside CHECKS: what runs keeps what it holds"""


def check(instance: Instance, plan: Plan, *, starts: bool = False) -> list[Violation]:
    """Every rule that the plan breaks, by rule in the order of CHECKS; empty for a good plan.

    A plan does not say whether it runs already. `starts`: it was just made, all but residents that stay start with it.
    """
    rules = (*CHECKS.values(), *STARTS) if starts else CHECKS.values()
    return [violation for rule in rules for violation in rule(instance, plan)]
