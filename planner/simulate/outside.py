"""Policies that plan a whole instance in a replay: each decision is an instance of its own, so they are slow."""

from collections import Counter

import numpy as np

from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.placement import Placement
from planner.fabrics.problem import JobOptions, Problem
from planner.model.edit import edited
from planner.model.errors import InputError
from planner.model.instance import Instance, Objective
from planner.model.plan import Assignment
from planner.model.result import SolveOptions
from planner.policies import find_policy
from planner.simulate.placer import Placer


class OutsidePlacer(Placer):
    """Asks a policy about one job on what is free: what others hold is shown as failed, fibers where no light is left.

    The policy chooses the configuration and how many ranks go to each server, on slices and in pools the devices; the
    state the rest.
    """

    def __init__(self, state: FreeState, name: str, options: SolveOptions) -> None:
        self.state, self.is_fixed = state, False
        self._name, self._policy = name, find_policy(name)
        self._options = options
        self._known: dict[int, tuple[JobOptions, list[Option]]] = {}

    def place(self, kind: JobClass) -> Placement | None:
        if kind.held > self.state.num_free:
            return None
        options, rows = self._rows(kind)
        cluster = edited(self.state.cluster, health=self.state.as_failed())
        instance = Instance(
            schema_version=2,
            name=kind.name,
            cluster=cluster,
            jobs=(options.job,),
            objectives=(Objective(name="value"),),
        )
        result = self._policy(Problem(instance, (options,)), self._options)
        if result.plan is None or not result.plan.assignments:
            return None
        assignment = result.plan.assignments[0]
        number = options.row_of(assignment.configuration)
        if number is None:
            raise self._broken(kind, "a configuration that is none of the candidates")
        placement = self.state.realize_chosen(rows[number], self._devices(kind, rows[number], assignment))
        if placement is not None:
            self.state.take(placement)
        return placement

    def _rows(self, kind: JobClass) -> tuple[JobOptions, list[Option]]:
        """The rows of a kind as a policy sees them."""
        if id(kind) not in self._known:
            rows = sorted(kind.rows, key=lambda row: row.number)
            options = rows[0].options
            numbers = np.array([row.number for row in rows], dtype=np.int64)
            self._known[id(kind)] = options.take(numbers), rows
        return self._known[id(kind)]

    def _devices(self, kind: JobClass, row: Option, assignment: Assignment) -> list[Device]:
        """Devices by rank; InputError for those that cannot be the job's."""
        devices = list(map(self.state.cluster.fabric.parse_device, assignment.devices))
        counts = Counter(server for server, _ in devices)
        most = row.part * row.shape.most_parts
        is_whole = all(count % row.part == 0 and count <= most for count in counts.values())
        is_free = all(self.state.free[server] >> slot & 1 for server, slot in devices)
        if not (is_whole and is_free and len(set(devices)) == row.shape.num_ranks == len(devices)):
            raise self._broken(
                kind, f"the accelerators {', '.join(assignment.devices)}, which are not free or not enough"
            )
        return devices

    def _broken(self, kind: JobClass, what: str) -> InputError:
        return InputError("policies", self._name, f"gave '{kind.name}' {what}; `planner compare` checks its plans")
