"""Shared by the tests of `caveats`, `data`, `floors` and `prices`."""

from collections.abc import Mapping
from typing import Any

from planner.report.replay.data import page_data
from planner.simulate.measures import MEASURES, Measure
from planner.simulate.run_one import Outcome, SimulationRun, Study
from tests.planner.report.replay import small


def made_data(
    outcomes: Mapping[SimulationRun, Outcome] | None = None,
    measures: Mapping[str, Measure] = MEASURES,
    of: Study | None = None,
) -> dict[str, Any]:
    given = outcomes if outcomes is not None else small.outcomes()
    return page_data(of or small.study(), given, measures, command="planner replay", versions={}, inputs={})
