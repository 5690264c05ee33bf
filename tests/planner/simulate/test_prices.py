"""Prices add a measure to a replay."""

import pytest

from planner.model.errors import InputError
from planner.prices import Prices
from planner.simulate.measures import MEASURES
from planner.simulate.prices import COST, measure_of, priced
from tests.planner.report.replay import small
from tests.planner.report.replay.data_cases import made_data


def test_prices_add_a_measure() -> None:
    clusters = dict.fromkeys(small.study().grounds, 1e6)
    prices = Prices.model_validate(
        {"currency": "EUR", "energy_per_kwh": 0.2, "lifetime": "1461 d", "clusters": clusters}
    )
    cell, outcome = next(iter(small.outcomes().items()))
    found = priced({cell: outcome}, prices)[cell].figures[COST]
    assert outcome.series is not None
    span_h = (outcome.series["end_s"] - outcome.series["begin_s"]) / 3600
    energy_kwh = (outcome.figures["power_w"] or 0) * span_h / 1000
    work_h = (outcome.figures["goodput"] or 0) * 32 * span_h
    assert found == pytest.approx((1e6 * span_h / (1461 * 24) + 0.2 * energy_kwh) / work_h)
    data = made_data(priced(small.outcomes(), prices), {**MEASURES, COST: measure_of(prices)})
    assert [pair["cost"] for pair in data["axes"]] == ["energy_wh_per_accelerator_h", COST]
    assert "cost" in [line["measure"].split("_")[0] for line in data["verdicts"][0]["lines"]]
    assert any("EUR" in measure["unit"] for measure in data["measures"])
    assert any(text.startswith("Cost is capital over 4 years") for text in data["caveats"])
    with pytest.raises(InputError, match="no price of 'b'"):
        prices.require({"b": None}, "prices.yaml")
