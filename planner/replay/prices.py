"""What clusters and energy cost, and what a useful accelerator-hour then costs."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field

from costmodel.spec import Seconds, Spec
from planner.cluster import Cluster
from planner.errors import InputError
from planner.replay.cell import Cell, Outcome
from planner.replay.costs import PartPrices
from planner.replay.measures import Measure

COST = "cost_per_h"
"""name of the measure"""
KWH_J = 3.6e6


class Prices(Spec):
    """Prices of the reader: none are shipped."""

    currency: str = Field(min_length=1)
    energy_per_kwh: float = Field(ge=0)
    lifetime_s: Seconds = Field(gt=0)
    """over which a cluster is written off, evenly"""
    clusters: dict[str, Annotated[float, Field(ge=0)]] = Field(default={})
    """capital of clusters, by name"""
    parts: PartPrices | None = None
    """prices of parts, of which the capital of all other clusters is the sum"""

    def filled(self, clusters: Mapping[str, Cluster], place: str) -> Self:
        """With the capital of every cluster; InputError where a cluster has no price."""
        parts = self.parts
        added = (
            {}
            if parts is None
            else {name: parts.capital(of.fabric, place) for name, of in clusters.items() if name not in self.clusters}
        )
        found = self.model_copy(update={"clusters": {**self.clusters, **added}})
        found.require(clusters, place)
        return found

    def require(self, clusters: Mapping[str, object], place: str) -> None:
        """InputError where a cluster has no price."""
        for name in clusters:
            if name not in self.clusters:
                raise InputError(place, "clusters", f"has no price of '{name}'; add one, or prices of parts")

    @property
    def measure(self) -> Measure:
        """What is added to the measures of a replay."""
        meaning = (
            f"capital over {self.lifetime_s / 31_557_600:.3g} years and energy of the jobs, for an hour of work done"
        )
        return Measure("cost", f"{self.currency}/h", meaning, "less")


def priced(outcomes: Mapping[Cell, Outcome], prices: Prices) -> dict[Cell, Outcome]:
    """Outcomes with the cost of an accelerator-hour of the reference whose work was done."""
    return {cell: _with_cost(cell, outcome, prices) for cell, outcome in outcomes.items()}


def _with_cost(cell: Cell, outcome: Outcome, prices: Prices) -> Outcome:
    work_h, power_w, series = outcome.figures["goodput_h"], outcome.figures["power_w"], outcome.series
    cost = None
    if work_h and power_w is not None and series is not None:
        span_s = series["end_s"] - series["begin_s"]
        capital = prices.clusters[cell.cluster] * span_s / prices.lifetime_s
        cost = (capital + power_w * span_s / KWH_J * prices.energy_per_kwh) / work_h
    return outcome._replace(figures=outcome.figures | {COST: cost})
