"""Light that crosses third servers, in step 1."""

from ortools.sat.python import cp_model

from planner.fabrics.lightpath.routes import Routes
from planner.fabrics.lightpath.step1_variables import JobLight
from planner.formulation.variables import JobVariables, total

MOST_FLOWS = 128
"""pairs of servers that the light of one server may pass up to which its way is followed"""


def flow(
    model: cp_model.CpModel, job: JobVariables, light: JobLight, ways: Routes, source: int
) -> list[cp_model.IntVar]:
    r"""Light of a job that leaves a server in its busiest configuration: $f_{ab} \le w_{jab}$ on each fiber pair.

    Servers that the job does not touch pass all of it on, others may take some of it, and it gets no farther than
    circuits may. Returned is what leaves the source; [] where there are so many pairs that only what leaves and
    enters each server is counted. Configurations share light, so that one flow for all of them would be too strict.
    """
    within = [
        pair for pair in light.reserved if pair[1] != source and ways.hops[source][pair[0]] < ways.fabric.most_hops
    ]
    if len(within) > MOST_FLOWS:
        return []
    flows = {pair: model.new_int_var(0, ways.capacity(*pair), "") for pair in within}
    for pair, carried in flows.items():
        model.add(carried <= light.reserved[pair])
    for server, touched in enumerate(job.touched):
        entering = total(carried for (_, b), carried in flows.items() if b == server)
        leaving = total(carried for (a, _), carried in flows.items() if a == server)
        if server != source:
            model.add(leaving <= entering)
            model.add(leaving == entering).only_enforce_if(~touched)
    return [carried for (a, _), carried in flows.items() if a == source]
