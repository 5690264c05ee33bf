"""Step 1 with slices: those on one server are there and do not overlap; servers that are alike stand in one order."""

from collections.abc import Mapping
from typing import ClassVar

from ortools.sat.python import cp_model

from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import Problem
from planner.fabrics.slices.groups import GROUPS
from planner.fabrics.slices.step1_variables import SliceVariables
from planner.fabrics.slices.symmetry import new_names, server_order
from planner.formulation.step_one import StepOne
from planner.formulation.variables import Variables
from planner.model.cluster import Cluster


class SlicedStepOne(StepOne):
    """Counts of slices by server, and where in the server they lie."""

    groups: ClassVar = GROUPS

    def variables(self, cluster: Cluster) -> SliceVariables:
        return SliceVariables(cluster)

    def order_servers(self, model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
        server_order(model, v, problem)

    def new_names(self, problem: Problem, pattern: Pattern) -> Mapping[int, int]:
        return new_names(problem, pattern)
