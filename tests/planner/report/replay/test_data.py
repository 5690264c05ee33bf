"""What the page of a replay is told, before it is drawn."""

import json

import numpy as np
import pytest

from planner.simulate.measures import MEASURES
from planner.simulate.run_one import Outcome, SimulationRun
from planner.simulate.summary import summarize
from planner.statistics import estimate
from tests.planner.report.replay import small
from tests.planner.report.replay.data_cases import made_data

INDEX = {name: index for index, name in enumerate(MEASURES)}


@pytest.mark.slow
def test_the_table_is_the_summary() -> None:
    data = made_data()
    assert [each["name"] for each in data["conditions"]] == [f"load {load:g}" for load in small.LOADS]
    runs = [(run["cluster"], run["policy"]) for run in data["runs"]]
    for row in summarize(small.outcomes()):
        at = data["table"][small.LOADS.index(row.load)][runs.index((row.cluster, row.policy))][INDEX[row.measure]]
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
    mean, half_width = made_data()["table"][1][3][INDEX["goodput"]][7:]
    assert mean == pytest.approx(found.mean[0], rel=1e-5)
    assert half_width == pytest.approx(found.half_width[0], rel=1e-5)


def test_lines_average_to_the_measures() -> None:
    data = made_data()
    for load, by_seed in zip(small.LOADS, data["series"]["lines"], strict=True):
        for seed, lines in zip(data["series"]["seeds"], by_seed, strict=True):
            for run, line in zip(data["runs"], lines, strict=True):
                figures = small.outcomes()[SimulationRun(run["cluster"], run["policy"], load, seed)].figures
                assert np.mean(line["busy"]) / 1e4 == pytest.approx(figures["utilization"], abs=1e-4)
                assert np.mean(line["queue"]) == pytest.approx(figures["queue"], rel=1e-2, abs=1e-3)


def test_floors_name_every_device_and_moments_say_who_holds_it() -> None:
    data = made_data()
    for name, given in small.study().grounds.items():
        floor, fabric = data["floors"][name], given.cluster.fabric
        names = [f"{server}.{floor['letter']}{slot}" for server in floor["servers"] for slot in range(8)]
        places = [(server, slot) for server in range(4) for slot in range(8)]
        assert [fabric.parse_device(each) for each in names] == places
    for by_run in data["snapshots"]["at"]:
        for moments in by_run:
            assert len(moments) == 2
            for each in moments:
                assert sum(each["owner"][1::2]) == 32
                assert max(each["owner"][::2]) == len(each["jobs"]) - 1


def test_one_seed_has_no_interval() -> None:
    data = made_data({cell: outcome for cell, outcome in small.outcomes().items() if cell.seed == 0})
    assert data["seeds"] == 1
    assert data["table"][0][1][INDEX["goodput"]][1] is None
    assert any(text.startswith("One seed: no interval") for text in data["caveats"])
    assert data["verdicts"][0]["seeds"] == 1


def test_measures_that_are_not_known_are_none() -> None:
    bare = {cell: Outcome({"goodput": 0.5, "admitted": 1.0}, {}) for cell in small.outcomes()}
    data = made_data(bare)
    assert data["series"]["lines"][0][0] == [None] * 4
    assert data["fronts"][0] == [[False] * 4]
    json.dumps(data, allow_nan=False)


@pytest.mark.parametrize("policy", ["best_fit_moving", "best_fit_moving:requeue"])
def test_what_moves_by_itself_is_named(policy: str) -> None:
    """Under `best_fit_moving` running jobs move although migration is off: neither setting nor caveats deny it."""
    found = {cell._replace(policy={"first_fit": policy}.get(cell.policy, cell.policy)): outcome
             for cell, outcome in small.outcomes().items()}  # fmt: skip
    data = made_data(found)
    assert dict(data["setting"])["Migration"] == "on under best_fit_moving alone, 60 s pause"
    assert not any("never move" in text for text in data["caveats"])
    plain = made_data()
    assert dict(plain["setting"])["Migration"] == "off"
    assert "Running jobs never move." in plain["caveats"]
