"""Failures that stand for the loss of any one part that a plan uses."""

import re

from costmodel.fabrics import Lightpath, OcsRail, Sipam, Torus
from planner.fabrics.sipam.residents import parts_in_use, switches_in_use
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.ranked_assignment import tenant_of
from planner.whatif.failures import Failure, parse_failure

ALIKE = re.compile(r"(#|\.u)\d+$")
"""number of a memory unit, a tray's port or an uplink"""


def single_failures(instance: Instance, plan: Plan) -> list[Failure]:
    """Failures that stand for the loss of any one tile, port, laser, receiver, fiber or optical switch.

    A free part is no loss. A port, laser or receiver need not be tried beside its tile: a repair that does without
    the tile does without them, and a single-device job may then have to take the tile, which it can. Where slots do not
    matter, the tiles of a server and the fibers of a pair are alike: whichever fails, the others can be renamed. So
    are the working switches of a rail; and where memory is pooled, units of a tray, its ports, and uplinks, on a rail.
    """
    cluster, fabric = instance.cluster, instance.cluster.fabric
    tenants = [tenant_of(fabric, assignment) for assignment in plan.assignments]
    alike = not (fabric.places_whole_jobs or (isinstance(fabric, Lightpath) and fabric.slots_matter))
    names: dict[object, str] = {}
    for device in (device for tenant in tenants for device in tenant.devices):
        kind = (device[0], cluster.condition(device)) if alike else device
        names.setdefault(("tile", kind), fabric.device_name(*device))
    if isinstance(fabric, Lightpath):
        for fiber in sorted({fiber for tenant in tenants for fiber in tenant.fibers}):
            names.setdefault(("fiber", fiber[:2] if alike else fiber), fabric.fiber_name(*fiber))
    if isinstance(fabric, OcsRail):
        for circuit in (c for a in plan.assignments for held in a.circuits for c in held.circuits):
            rail = fabric.parse_device(circuit.source)[1]
            names.setdefault(("switch", rail), fabric.switch_name(rail, circuit.wavelengths[0]))
    if isinstance(fabric, Torus):
        used = {name for a in plan.assignments for held in a.circuits for c in held.circuits for name in c.fibers}
        names |= {("switch", name): name for name in sorted(used)}
    if isinstance(fabric, Sipam):
        for assignment in plan.assignments:
            parts = parts_in_use(assignment) | switches_in_use(fabric, assignment)
            names |= {ALIKE.sub(r"\1", name): name for name in sorted(parts)}
    return [parse_failure(cluster, name) for name in names.values()]
