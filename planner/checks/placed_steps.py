"""What a job costs by the step with its tensors placed, where an instance asks for that."""

from dataclasses import replace

import numpy as np

from costmodel.pricing.power import waiting_j
from planner.checks.pricing import Price
from planner.model.instance import Instance
from planner.model.plan import Assignment


def by_placed_step(instance: Instance, assignment: Assignment, price: Price) -> Price:
    """The price of a configuration whose step takes the time that the plan states of its places: another rule replays
    them. Accelerators and servers draw what they do at all times for as long as the step takes."""
    tier, number = assignment.second_tier, np.array([len(assignment.devices)], np.float64)
    if not instance.placed_steps or tier is None or tier.step_s <= 0:
        return price
    work = price.speed * price.step_s
    cluster = instance.cluster
    more = waiting_j(np.array([tier.step_s - price.step_s]), cluster.device, cluster.fabric, number)
    joules = price.energy_per_work * work + sum(float(each[0]) for each in more.values())
    return replace(
        price,
        speed=work / tier.step_s,
        step_s=tier.step_s,
        energy_per_work=joules / work,
        power_w=joules / tier.step_s,
    )
