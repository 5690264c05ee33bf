"""What the page of a replay is told, before it is drawn."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.model.errors import InputError
from planner.prices import Prices
from planner.report.replay import data as data_module
from planner.report.replay import floors
from planner.report.replay.caveats import caveats
from planner.report.replay.data import page_data
from planner.report.replay.sheet import Sheet
from planner.simulate.events import Rules
from planner.simulate.measures import MEASURES, Measure
from planner.simulate.prices import COST, measure_of, priced
from planner.simulate.run_one import Outcome, SimulationRun, Study
from planner.simulate.summary import summarize
from planner.statistics import estimate
from planner.whatif.failure_model import FailureModel
from tests.planner.report.replay import small
from tests.planner.simulate.grounds import cluster, ground, trace

INDEX = {name: index for index, name in enumerate(MEASURES)}


def _data(
    outcomes: Mapping[SimulationRun, Outcome] | None = None,
    measures: Mapping[str, Measure] = MEASURES,
    of: Study | None = None,
) -> dict[str, Any]:
    given = outcomes if outcomes is not None else small.outcomes()
    return page_data(of or small.study(), given, measures, command="planner replay", versions={}, inputs={})


@pytest.mark.slow
def test_the_table_is_the_summary() -> None:
    data = _data()
    runs = [(run["cluster"], run["policy"]) for run in data["runs"]]
    for row in summarize(small.outcomes()):
        at = data["table"][data["loads"].index(row.load)][runs.index((row.cluster, row.policy))][INDEX[row.measure]]
        wanted = [
            row.mean, row.half_width, row.seeds, row.less_policy, row.less_policy_half_width, row.less_cluster,
            row.less_cluster_half_width,
        ]  # fmt: skip
        assert at[:7] == [None if value is None else pytest.approx(value, rel=1e-5) for value in wanted], row


def test_differences_to_the_baseline_are_paired() -> None:
    outcomes = small.outcomes()
    clusters = list(small.study().grounds)
    columns = [
        np.array(
            [outcomes[SimulationRun(name, policy, 1.2, seed)].figures["goodput"] for seed in range(3)], dtype=float
        )
        for name, policy in ((clusters[1], "best_fit"), (clusters[0], "first_fit"))
    ]
    found = estimate((columns[0] - columns[1])[:, None])
    mean, half_width = _data()["table"][1][3][INDEX["goodput"]][7:]
    assert mean == pytest.approx(found.mean[0], rel=1e-5)
    assert half_width == pytest.approx(found.half_width[0], rel=1e-5)


def test_lines_average_to_the_measures() -> None:
    data = _data()
    for load, by_seed in zip(data["loads"], data["series"]["lines"], strict=True):
        for seed, lines in zip(data["series"]["seeds"], by_seed, strict=True):
            for run, line in zip(data["runs"], lines, strict=True):
                figures = small.outcomes()[SimulationRun(run["cluster"], run["policy"], load, seed)].figures
                assert np.mean(line["busy"]) / 1e4 == pytest.approx(figures["utilization"], abs=1e-4)
                assert np.mean(line["queue"]) == pytest.approx(figures["queue"], rel=1e-2, abs=1e-3)


def test_floors_name_every_device_and_moments_say_who_holds_it() -> None:
    data = _data()
    for name, given in small.study().grounds.items():
        names = [tile for rack in data["floors"][name]["racks"] for s in rack["servers"] for tile in s["tiles"]]
        fabric = given.cluster.fabric
        places = [(server, slot) for server in range(4) for slot in range(8)]
        assert [fabric.parse_device(each) for each in names] == places
    for by_run in data["snapshots"]["at"]:
        for moments in by_run:
            assert len(moments) == 2
            for each in moments:
                assert len(each["owner"]) == 32
                assert max(each["owner"]) == len(each["jobs"]) - 1


def test_a_large_study_is_cut_to_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_module, "MOST_SERIES", 17)
    monkeypatch.setattr(floors, "MOST_TILES", 32 * 2 * 2 * 2)
    data = _data()
    assert data["series"]["seeds"] == [0, 1]
    assert (data["snapshots"]["moments"], data["snapshots"]["left_out"]) == ([0.5], 1)


def test_one_seed_has_no_interval() -> None:
    data = _data({cell: outcome for cell, outcome in small.outcomes().items() if cell.seed == 0})
    assert data["seeds"] == 1
    assert data["table"][0][1][INDEX["goodput"]][1] is None
    assert any(text.startswith("One seed: no interval") for text in data["caveats"])
    assert data["verdicts"][0]["seeds"] == 1


def test_measures_that_are_not_known_are_none() -> None:
    bare = {cell: Outcome({"goodput": 0.5, "admitted": 1.0}, {}) for cell in small.outcomes()}
    data = _data(bare)
    assert data["series"]["lines"][0][0] == [None] * 4
    assert data["fronts"][0]["energy_j_per_s"] == [False] * 4
    json.dumps(data, allow_nan=False)


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
    data = _data(priced(small.outcomes(), prices), {**MEASURES, COST: measure_of(prices)})
    assert list(data["fronts"][0]) == ["energy_j_per_s", COST]
    assert "cost" in [line["measure"].split("_")[0] for line in data["verdicts"][0]["lines"]]
    assert any("EUR" in measure["unit"] for measure in data["measures"])
    assert any(text.startswith("Cost is capital over 4 years") for text in data["caveats"])
    with pytest.raises(InputError, match="no price of 'b'"):
        prices.require({"b": None}, "prices.yaml")


TORUS = ground("t", cluster("torus"), [3, 4])
CAVEATS = [
    (lambda study: study, "Failures are off", "Failures are sampled"),
    (lambda study: replace(study, failures=FailureModel()), "Failures are sampled", "Failures are off"),
    (lambda study: replace(study, rules=Rules(migrate=True, downtime_s=30)), "pause for 30 s", "never move"),
    (lambda study: replace(study, rules=Rules("fifo")), "never move", "Backfill knows"),
    (lambda study: study, "Backfill knows", "Every job takes its recorded time"),
    (lambda study: study, "demand model 'small'", "consecutive jobs"),
    (lambda study: study, "Deciding takes no time", "hold more than they ask for"),
    (lambda study: replace(study, grounds={"t": TORUS}), "hold more than they ask for (4 for 3)", "cannot run"),
]


@pytest.mark.parametrize(("change", "told", "untold"), CAVEATS)
def test_caveats_follow_what_was_set(change: Any, told: str, untold: str) -> None:
    text = " ".join(caveats(change(small.study()), Sheet(small.outcomes()), MEASURES))
    assert told in text
    assert untold not in text


def test_caveats_of_a_trace() -> None:
    jobs = trace([0.0, 50.0, 90.0, 100.0], [600.0, 60, 60, 60], [16, 16, 4, 8])
    study = small.study()
    recorded = study.demand.mix.model_copy(update={"durations": "recorded"})
    whole = replace(study, demand=replace(study.demand, source=jobs, jobs=None, mix=recorded), warm_up=0.0)
    at_load = {cell._replace(load=0.3): outcome for cell, outcome in small.outcomes().items() if cell.load == 0.6}
    text = " ".join(caveats(whole, Sheet(at_load), MEASURES))
    assert "Every seed replays the same jobs" in text
    assert "Every job takes its recorded time" in text
    told = re.search(r"first seed: by ([\d.]+) at load 0.3", text)
    assert told is not None
    end_s = 100 * float(told[1])
    held_s = 16 * min(600, end_s) + 16 * min(60, end_s / 2) + 4 * min(60, end_s / 10)
    assert held_s / (32 * end_s) == pytest.approx(0.3, rel=1e-2)
    part = replace(whole, demand=replace(whole.demand, jobs=3))
    assert "a stretch of 3 consecutive jobs of 4" in " ".join(caveats(part, Sheet(at_load), MEASURES))
    named = replace(whole, demand=replace(whole.demand, source=replace(jobs, workload=np.array(["bert"] * 4))))
    assert "does not say what its jobs run" not in " ".join(caveats(named, Sheet(at_load), MEASURES))


def test_what_moves_by_itself_is_named() -> None:
    """Under `best_fit_moving` running jobs move although migration is off: neither setting nor caveats deny it."""
    found = {cell._replace(policy={"first_fit": "best_fit_moving"}.get(cell.policy, cell.policy)): outcome
             for cell, outcome in small.outcomes().items()}  # fmt: skip
    data = _data(found)
    assert dict(data["setting"])["Migration"] == "on under best_fit_moving alone, 60 s pause"
    assert not any("never move" in text for text in data["caveats"])
    plain = _data()
    assert dict(plain["setting"])["Migration"] == "off"
    assert "Running jobs never move." in plain["caveats"]
