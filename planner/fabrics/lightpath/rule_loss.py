"""Loss of light on its way."""

from collections.abc import Iterator

from costmodel.fabrics import Lightpath
from planner.checks.names import admitted
from planner.fabrics.lightpath.rule_light import circuits_of, named, trace
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.violation import Violation

ROUNDING_DB = 1e-9
"""what sums of losses may exceed the budget by, being floats"""


def check_loss(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """crossings x loss_per_tile + fibers x loss_per_fiber <= loss_budget on each path that joins up."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Lightpath)
    if fabric.loss_budget_db is None:
        return
    for _, assignment in admitted(instance, plan):
        for _, _, circuit in circuits_of(assignment):
            path = trace(fabric, circuit)
            if path is None:
                continue
            loss_db = len(path.boundaries) * fabric.loss_per_tile_db + len(path.fibers) * fabric.loss_per_fiber_db
            excess_db = loss_db - fabric.loss_budget_db
            if excess_db > ROUNDING_DB:
                where = named(assignment, circuit)
                message = f"{where} loses {loss_db:g} dB of a budget of {fabric.loss_budget_db:g} dB"
                yield Violation("loss", where, message, excess_db)
