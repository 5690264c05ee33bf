"""Costs of the clusters of rows, by prices of the reader."""

from collections.abc import Sequence
from dataclasses import replace

from planner.model.errors import InputError
from planner.prices import Prices
from planner.studies.compare.grid import Variant
from planner.studies.compare.rows import PolicyRow

HOUR_S = 3600.0
MILLION = 1e6


def with_costs(rows: Sequence[PolicyRow], variants: Sequence[Variant], prices: Prices) -> list[PolicyRow]:
    """Rows with their costs; see `capital_of`."""
    capital = capital_of(variants, prices)
    return [_with_cost(row, capital[row.instance, str(row.parameters)], prices) for row in rows]


def capital_of(variants: Sequence[Variant], prices: Prices, place: str = "--prices") -> dict[tuple[str, str], float]:
    """Capital of each variant by name and parameters; InputError, at the file of prices, for one without a price."""
    found = {}
    for variant in variants:
        name, cluster = variant.instance.name, variant.instance.cluster
        if name in prices.clusters and cluster != variant.base.cluster:
            problem = f"one price of '{name}' cannot hold for variants of its cluster; give prices of parts instead"
            raise InputError(place, "clusters", problem)
        found[name, str(variant.parameters)] = prices.filled({name: cluster}, place).clusters[name]
    return found


def _with_cost(row: PolicyRow, capital: float, prices: Prices) -> PolicyRow:
    """Of an hour, and of a million units of work where all jobs do the same."""
    if row.power_w is None:
        return row
    per_h = prices.cost(capital, row.power_w, HOUR_S)
    tokens, samples = row.tokens_per_s, row.samples_per_s

    def of_million(per_s: float | None, others: float | None) -> float | None:
        return per_h / HOUR_S / per_s * MILLION if per_s and not others else None

    return replace(
        row,
        cost_per_h=per_h,
        cost_per_million_tokens=of_million(tokens, samples),
        cost_per_million_samples=of_million(samples, tokens),
    )
