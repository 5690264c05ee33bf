"""Cost of a useful accelerator-hour."""

from collections.abc import Mapping

from planner.prices import Prices
from planner.simulate.measures import Measure
from planner.simulate.run_one import Outcome, SimulationRun

COST = "cost_per_accelerator_h"
"""name of the measure"""


def measure_of(prices: Prices) -> Measure:
    """The measure of cost, beside those of a replay."""
    meaning = (
        f"capital over {prices.lifetime_s / 31_557_600:.3g} years and energy of the jobs, for an accelerator-hour of "
        "work: what an accelerator of the reference does in an hour"
    )
    return Measure("cost per accelerator-hour", prices.currency, meaning, "less", is_money=True)


def priced(outcomes: Mapping[SimulationRun, Outcome], prices: Prices) -> dict[SimulationRun, Outcome]:
    """Outcomes with the cost of an accelerator-hour of the reference whose work was done."""
    return {cell: _with_cost(cell, outcome, prices) for cell, outcome in outcomes.items()}


def _with_cost(cell: SimulationRun, outcome: Outcome, prices: Prices) -> Outcome:
    work_h, power_w, series = outcome.figures["goodput_h"], outcome.figures["power_w"], outcome.series
    cost = None
    if work_h and power_w is not None and series is not None:
        span_s = series["end_s"] - series["begin_s"]
        cost = prices.cost(prices.clusters[cell.cluster], power_w, span_s) / work_h
    return outcome._replace(figures=outcome.figures | {COST: cost})
