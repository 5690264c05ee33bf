"""Costs of clusters and energy."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field

from costmodel.spec import Duration, Spec
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.prices.parts import PartPrices

KWH_J = 3.6e6


class Prices(Spec):
    """Prices of the reader: none are shipped."""

    currency: str = Field(min_length=1)
    """of all prices, such as EUR; it is printed behind them"""
    energy_per_kwh: float = Field(ge=0)
    """price of a kilowatt-hour at the accelerators; power of cooling is not in it"""
    lifetime_s: Duration = Field(gt=0)
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

    def cost(self, capital: float, power_w: float, span_s: float) -> float:
        """Of a cluster of this capital that works at this power, over a span of time."""
        return capital * span_s / self.lifetime_s + power_w * span_s / KWH_J * self.energy_per_kwh
