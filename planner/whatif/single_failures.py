"""Failures that stand for the loss of any one part that a plan uses."""

from collections.abc import Hashable

from planner.fabrics import plugin_of
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.whatif.failures import Failure, kind_of

BESIDE_TILES = ("port", "laser", "receiver")
"""kinds that need not be tried"""


def single_failures(instance: Instance, plan: Plan) -> list[Failure]:
    """Failures that stand for the loss of any one part that a plan uses: devices by rank first, then other parts.

    A free part is no loss. A port, laser or receiver need not be tried beside its tile: a repair that does without
    the tile does without them, and a single-device job may then have to take the tile, which it can. Of parts that
    can stand for each other one is tried.
    """
    cluster, fabric = instance.cluster, instance.cluster.fabric
    plugin, inventory = plugin_of(fabric), fabric.inventory()
    claims = [plugin.claims.of(fabric, assignment) for assignment in plan.assignments]
    devices = [device for assignment in plan.assignments for device in assignment.devices]
    others = plugin.interchangeable.in_order([{*each.owned, *each.relies_on} for each in claims])
    tried: dict[Hashable, Failure] = {}
    for part in dict.fromkeys((*devices, *others)):
        kind = kind_of(inventory, part)
        if kind is not None and kind not in BESIDE_TILES:
            key = kind, plugin.interchangeable.class_of(cluster, kind, part)
            tried.setdefault(key, Failure(part, kind, part))
    return list(tried.values())
