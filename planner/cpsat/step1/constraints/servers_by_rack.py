"""Servers that a job takes of each rack, where it asks for certain numbers."""

from ortools.sat.python import cp_model

from planner.fabrics.problem import Problem
from planner.formulation.servers_by_rack import AskedOfRacks
from planner.formulation.variables import Variables


def servers_by_rack(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    """Touched servers are as many of each rack as is asked."""
    fabric = problem.cluster.fabric
    racks = tuple(map(fabric.rack_of, range(fabric.num_servers)))
    for job in v.jobs:
        asked = job.options.job.constraints.servers_by_rack
        if asked is not None:
            AskedOfRacks(asked, racks).add(model, job.touched, sum(job.rows))
