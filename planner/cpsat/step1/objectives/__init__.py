"""Objectives by the name that files use: what the search maximizes or minimizes."""

from planner.cpsat.step1.objectives.energy import Energy
from planner.cpsat.step1.objectives.fragmentation import Fragmentation
from planner.cpsat.step1.objectives.moves import Moves
from planner.cpsat.step1.objectives.value import Value
from planner.formulation.objective import SearchObjective

OBJECTIVES: dict[str, SearchObjective] = {
    "value": Value(),
    "moves": Moves(),
    "energy": Energy(),
    "fragmentation": Fragmentation(),
}
