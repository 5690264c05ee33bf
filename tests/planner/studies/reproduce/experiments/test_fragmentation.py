"""Shares of admitted jobs by slice shape, on fewer jobs than the shipped study has."""

import pytest
import yaml
from pydantic import ValidationError

from planner.studies.reproduce.experiments.fragmentation import Inputs
from tests.planner.studies.reproduce.experiments.fragmentation_cases import FILE, outcome


@pytest.mark.slow
def test_figures_within_three_points_and_exact_ones_within_a_tenth() -> None:
    for row in outcome().rows:
        tolerance = 0.1 if "complete sharing" in row.quantity else 3.0
        assert row.ours == pytest.approx(row.published_number, abs=tolerance), row.quantity


def test_what_is_busy_is_what_was_admitted() -> None:
    """Little's law: utilization is the load times the admitted share of the demand, within the noise of a run."""
    ours = outcome().quantities
    names = [name for name in ours if name.startswith("GPU-weighted") and name.endswith("GPUs, plain")]
    assert len(names) == 2 * 9
    for name in names:
        busy = ours[name.replace("GPU-weighted", "utilization")]
        assert 0.95 * ours[name] == pytest.approx(busy, abs=0.015)


def test_figures_that_are_not_required_say_why() -> None:
    optional = [row for row in outcome().rows if not row.required]
    assert len(optional) == 4
    assert all(row.reason for row in optional)


def test_intervals_and_paired_differences() -> None:
    found = outcome().quantities
    intervals = [value for name, value in found.items() if name.endswith("GPUs, interval")]
    assert len(intervals) == 3 * 2 * 9
    assert max(intervals) < 0.016
    for cluster in ("64 GPUs", "256 GPUs"):
        for scheme in ("3D torus", "BCube r=2", "SiPAC r=4"):
            loss = found[f"GPU-weighted, {scheme}, {cluster}, less any chip"]
            assert loss + found[f"GPU-weighted, {scheme}, {cluster}, less any chip interval"] < -0.05
        assert abs(found[f"GPU-weighted, Lumorph, 1 fiber, {cluster}, less any chip"]) < 0.002


def test_wrong_clusters_are_refused() -> None:
    inputs = yaml.safe_load(FILE.read_text(encoding="utf-8"))["inputs"]
    any_chip = {"kind": "any_chip", "accelerators": 64}
    for schemes, message in (
        ({"a": any_chip, "b": any_chip | {"accelerators": 63}}, "as many accelerators each"),
        ({"complete sharing": any_chip}, "names the exact row"),
        ({}, "has no scheme"),
    ):
        with pytest.raises(ValidationError, match=message):
            Inputs.model_validate(inputs | {"clusters": {"64 GPUs": schemes}})
