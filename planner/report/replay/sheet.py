"""All figures of a study by load, run and seed; a run is a policy on a cluster."""

from collections.abc import Mapping
from functools import cached_property

from planner.report.study.figures import FigureSheet, Run
from planner.simulate.fault_study import split_policy
from planner.simulate.placers import MOVING
from planner.simulate.run_one import Outcome, SimulationRun
from planner.simulate.summary import by_seed

Load = float | None


def name_of(run: Run) -> str:
    return f"{run[0]} with {run[1]}"


class Sheet(FigureSheet):
    """Outcomes looked up; the first run is the baseline."""

    def __init__(self, outcomes: Mapping[SimulationRun, Outcome]) -> None:
        self.outcomes = outcomes
        self.loads: list[Load] = list(dict.fromkeys(cell.load for cell in outcomes))
        self.runs: list[Run] = list(dict.fromkeys((cell.cluster, cell.policy) for cell in outcomes))
        self.seeds = sorted({cell.seed for cell in outcomes})

    @property
    def moving(self) -> list[str]:
        """Policies that move running jobs by themselves, whatever they do about failures."""
        return sorted(MOVING & {split_policy(policy)[0] for _, policy in self.runs})

    @cached_property
    def _cells(self) -> dict[tuple[Load, Run], list[SimulationRun]]:
        found: dict[tuple[Load, Run], list[SimulationRun]] = {}
        for cell in self.outcomes:
            found.setdefault((cell.load, (cell.cluster, cell.policy)), []).append(cell)
        return found

    def values(self, condition: Load, run: Run, measure: str) -> dict[int, float]:
        """By seed, of seeds that have the measure at a load."""
        return by_seed(self.outcomes, self._cells.get((condition, run), []), measure)

    def outcome(self, load: Load, run: Run, seed: int) -> Outcome | None:
        return self.outcomes.get(SimulationRun(*run, load, seed))
