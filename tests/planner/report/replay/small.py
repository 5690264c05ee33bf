"""A small study, replayed once, and outcomes made up."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from planner.report.replay import replay_html
from planner.simulate.measures import MEASURES
from planner.simulate.run_one import Outcome, SimulationRun, Study
from planner.simulate.run_one import replay as replay_cell
from planner.simulate.study import cells_of, prepare_study
from tests.planner.simulate.grounds import SMALL_DEMAND, cluster, mix

LOADS = [0.6, 1.2]
INPUTS = {"jobs <i>.csv": "ab" * 32}


@functools.cache
def study() -> Study:
    clusters = {"fat_tree": cluster("fat_tree"), "torus <b>": cluster("torus")}
    return replace(prepare_study(SMALL_DEMAND, mix(), clusters, jobs=100), moments=(0.5, 0.9))


@functools.cache
def outcomes(seeds: int = 3) -> Mapping[SimulationRun, Outcome]:
    cells = cells_of(study(), ["first_fit", "best_fit"], LOADS, seeds)
    return {cell: replay_cell(study(), cell) for cell in cells}


def page(seeds: int = 3) -> str:
    return replay_html(
        study(), outcomes(seeds), MEASURES, command="planner replay 'jobs <i>.csv'", versions={"photonplan": "0.1.0"},
        inputs=INPUTS,
    )  # fmt: skip


def made_up(values: Mapping[tuple[str, str], Mapping[str, Sequence[float]]]) -> dict[SimulationRun, Outcome]:
    """Outcomes at one load by run and measure, figures by seed."""
    found = {}
    for (name, policy), measures in values.items():
        for seed in range(len(next(iter(measures.values())))):
            figures: dict[str, float | None] = {measure: column[seed] for measure, column in measures.items()}
            found[SimulationRun(name, policy, 0.9, seed)] = Outcome(figures, {})
    return found
