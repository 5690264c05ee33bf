"""Sampled failures: names that exist, events in order, and rates as the model says."""

import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.model.instance import Instance
from planner.whatif.failure_model import FailureModel, PartFailures, PartKind, parts_of, sample_failures
from planner.whatif.failures import parse_failure
from tests.planner.fabrics.joined_racks.racks import FIBERS, PACKETS, SWITCHES, racks
from tests.planner.simulate.grounds import cluster
from tests.planner.small_racks import rack, training

CLUSTER = Instance.parse(rack(training("p", 2), fibers=2)).cluster
MODEL = FailureModel.model_validate(
    {
        "tile": {"time_between_failures": "40 d", "repair_time": "1 d"},
        "fiber": {"time_between_failures": "400 d", "repair_time": "8 h"},
        "laser": {"time_between_failures": "90 d", "repair_time": "2 h"},
        "switch_port": {"time_between_failures": "200 d", "repair_time": "12 h"},
        "receiver": {"time_between_failures": "120 d", "repair_time": "3 h"},
    }
)
YEAR_S = 365 * 86400.0


def test_parts_have_names_that_a_repair_reads() -> None:
    counts = {kind: len(parts_of(CLUSTER.fabric, kind)) for kind in get_args(PartKind)}
    assert counts == {
        "tile": 8, "fiber": 4, "laser": 32, "switch_port": 8, "receiver": 32, "optical_switch": 0, "memory_unit": 0,
        "rack_link": 0,
    }  # fmt: skip
    kinds = {"tile": "tile", "fiber": "fiber", "laser": "laser", "switch_port": "port", "receiver": "receiver"}
    for kind, means in kinds.items():
        for name in parts_of(CLUSTER.fabric, kind):
            assert parse_failure(CLUSTER, name).kind == means


@pytest.mark.parametrize(
    ("fabric", "changes", "switches", "units"),
    [
        ("ocs_rail", {}, 8 * 4, 0),
        ("torus", {}, 3 * 4, 0),
        ("torus", {"racks": 2, "sides": [2, 2, 4]}, 2 * (8 + 8 + 4), 0),
        ("torus", {"switches": None}, 0, 0),
        ("sipam", {}, 12 * 4 + 4, 4 * 2 * 24),
        ("sipam", {"racks": 2}, 12 * 8 + 2 * 4, 2 * 4 * 2 * 24),
        ("fat_tree", {}, 0, 0),
    ],
)
def test_optical_switches_and_memory_units_have_names_too(
    fabric: str, changes: dict[str, object], switches: int, units: int
) -> None:
    of = cluster(fabric, **changes)
    for kind, number, means in (("optical_switch", switches, "switch"), ("memory_unit", units, "memory unit")):
        names = parts_of(of.fabric, kind)  # type: ignore[arg-type]
        assert len(set(names)) == len(names) == number
        assert all(parse_failure(of, name).kind == means for name in names)


def test_links_between_racks_have_names_too() -> None:
    for upper, number in ((SWITCHES | {"radix": 3}, 2), (FIBERS, 6), (PACKETS, 0)):
        of = racks(upper, 8).cluster
        names = parts_of(of.fabric, "rack_link")
        assert len(set(names)) == len(names) == number
        assert all(parse_failure(of, name).kind == "rack link" for name in names)


@pytest.mark.slow
@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 2**31 - 1), st.floats(0, 3 * YEAR_S))
def test_events_are_ordered_and_a_part_fails_only_while_it_works(seed: int, horizon_s: float) -> None:
    events = sample_failures(MODEL, CLUSTER.fabric, horizon_s, seed)
    assert events == sample_failures(MODEL, CLUSTER.fabric, horizon_s, seed)
    assert [e.fail_s for e in events] == sorted(e.fail_s for e in events)
    down_until: dict[str, float] = {}
    for event in events:
        assert down_until.get(event.part, 0.0) <= event.fail_s < min(event.repair_s, horizon_s)
        down_until[event.part] = event.repair_s


def test_a_kind_more_changes_no_event_of_the_others() -> None:
    alone = sample_failures(FailureModel(tile=MODEL.tile), CLUSTER.fabric, YEAR_S, 7)
    together = sample_failures(MODEL, CLUSTER.fabric, YEAR_S, 7)
    assert set(alone) == {event for event in together if "#" not in event.part and ":" not in event.part}
    assert sample_failures(FailureModel(), CLUSTER.fabric, YEAR_S, 7) == ()


@pytest.mark.parametrize("kind", [kind for kind in get_args(PartKind) if getattr(MODEL, kind) is not None])
def test_rates_and_times_are_those_of_the_model(kind: str) -> None:
    """Within 4 standard errors: counts of renewals, times up, times down, and the share of time down."""
    part: PartFailures = getattr(MODEL, kind)
    horizon_s = 400 * part.time_between_failures_s
    events = sample_failures(FailureModel(**{kind: part}), CLUSTER.fabric, horizon_s, 11)
    names = parts_of(CLUSTER.fabric, kind)
    expected = len(names) * horizon_s * part.failures_per_s
    assert abs(len(events) - expected) < 4 * math.sqrt(expected) + len(names)
    down_s = np.array([e.repair_s - e.fail_s for e in events])
    assert abs(down_s.mean() / part.repair_time_s - 1) < 4 / math.sqrt(len(events))
    assert abs(down_s.std() / down_s.mean() - 1) < 8 / math.sqrt(len(events))
    share = np.minimum(down_s, horizon_s).sum() / (len(names) * horizon_s)
    assert share == pytest.approx(1 - part.availability, rel=6 / math.sqrt(len(events)))


def test_a_bad_model_or_horizon_is_refused() -> None:
    with pytest.raises(ValueError, match="time_between_failures"):
        PartFailures.model_validate({"time_between_failures": 0, "repair_time": "1 h"})
    with pytest.raises(ValueError, match="horizon_s"):
        sample_failures(MODEL, CLUSTER.fabric, float("inf"), 0)
