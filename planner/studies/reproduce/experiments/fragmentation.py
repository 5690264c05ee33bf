"""Jobs that a cluster admits when slices must have the shapes of its fabric: simulated, and exact without shapes."""

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import Field, model_validator

from costmodel.spec import Spec
from planner.slices.schemes import Scheme
from planner.statistics import Estimate
from planner.studies.fragmentation.loss_system import MEASURES
from planner.studies.fragmentation.study import OfferedLoad, exact, study

EXACT = "complete sharing"
"""any free accelerators, by the recursion of Kaufman and Roberts"""


class Inputs(Spec):
    """Jobs, clusters and the schemes that cut slices from them."""

    sizes: tuple[Annotated[int, Field(ge=1)], ...] = Field(min_length=1)
    """accelerators that jobs ask for, all equally often unless `weights` are given"""
    weights: tuple[Annotated[float, Field(ge=0)], ...] | None = None
    load: float = Field(gt=0)
    """mean accelerators asked for at once, over those of the cluster"""
    jobs: int = Field(ge=100)
    """arrivals of each replication"""
    seeds: int = Field(ge=6)
    """replications; all schemes of a cluster see the same jobs"""
    warm_up: float = Field(ge=0)
    """mean holding times at the start that are left out"""
    clusters: dict[str, dict[str, Scheme]] = Field(min_length=1)
    """by label: schemes by label"""

    @model_validator(mode="after")
    def _clusters_are_whole(self) -> Self:
        for label, schemes in self.clusters.items():
            if not schemes:
                raise ValueError(f"clusters: '{label}' has no scheme; give one or more")
            sizes = {name: scheme.allocator().capacity for name, scheme in schemes.items()}
            if len(set(sizes.values())) != 1:
                raise ValueError(f"clusters: schemes of '{label}' must have as many accelerators each, not {sizes}")
            if EXACT in schemes:
                raise ValueError(f"clusters: '{EXACT}' in '{label}' names the exact row; choose another label")
        return self

    @property
    def traffic(self) -> OfferedLoad:
        weights = self.weights or (1.0,) * len(self.sizes)
        return OfferedLoad(self.sizes, weights, self.load, self.jobs, self.seeds, self.warm_up)


def quantity(measure: str, scheme: str, cluster: str, *, suffix: str = "") -> str:
    """Name of a quantity; suffixes: `interval` (half of it), `plain`, `less any chip` and its interval."""
    return f"{measure}, {scheme}, {cluster}" + (f", {suffix}" if suffix else "")


def compute(inputs: Inputs) -> dict[str, float]:
    """Shares of jobs, of accelerators asked for and of accelerators busy, by scheme and cluster."""
    found: dict[str, float] = {}
    for cluster, schemes in inputs.clusters.items():
        makers = {name: scheme.allocator for name, scheme in schemes.items()}
        capacity = next(iter(makers.values()))().capacity
        for measure, value in zip(MEASURES, exact(inputs.traffic, capacity), strict=True):
            found[quantity(measure, EXACT, cluster)] = float(value)
        for name, outcome in study(inputs.traffic, capacity, makers).items():
            is_control = schemes[name].kind == "any_chip"
            found |= _named(outcome.plain if is_control else outcome.best, name, cluster, "")
            found |= _named(outcome.plain, name, cluster, "plain")
            found |= _named(outcome.less_any_chip, name, cluster, "less any chip")
    return found


def _named(values: Estimate, scheme: str, cluster: str, suffix: str) -> Iterator[tuple[str, float]]:
    """Means and half intervals."""
    interval = f"{suffix} interval" if suffix else "interval"
    for k, measure in enumerate(MEASURES):
        yield quantity(measure, scheme, cluster, suffix=suffix), float(values.mean[k])
        yield quantity(measure, scheme, cluster, suffix=interval), float(values.half_width[k])
