"""Training on optical memory: the published gain, what it hangs on, and what the figure shows."""

from typing import Any

import numpy as np
import pytest

from costmodel.fabrics import fat_tree_of
from costmodel.hardware.systems import system_of
from costmodel.pricing.search import search
from planner.studies.reproduce.experiments import training_gain
from planner.studies.reproduce.experiments.training_gain import BANDWIDTH, BASELINE, BEHIND_L2, BOTH, CAPACITY, Inputs
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import ExperimentOutcome, reproduce_file

FITTED = "fitted, unfused attention"
KERNELS = (FITTED, "fitted, fused attention", "Calculon, unfused attention", "Calculon, fused attention")


@pytest.fixture(scope="module")
def outcome() -> ExperimentOutcome:
    return reproduce_file(FOLDER / "optical_hbm" / "training.yaml")


@pytest.fixture(scope="module")
def inputs(outcome: ExperimentOutcome) -> Inputs:
    assert isinstance(outcome.inputs, Inputs)
    return outcome.inputs


def changed(inputs: Inputs, **fields: Any) -> Inputs:
    return Inputs.model_validate(inputs.model_dump(by_alias=False, exclude_unset=True) | fields)


def gain(
    outcome: ExperimentOutcome, system: str, *, menu: str = "weak menu", kernels: str = FITTED, model: str = "1t"
) -> float:
    return outcome.quantities[f"gain {model}, {menu}, {system}, {kernels}"]


@pytest.mark.slow
def test_what_the_paper_says_is_reproduced(outcome: ExperimentOutcome) -> None:
    assert {row.verdict for row in outcome.rows if row.required} == {"fitted", "reproduced"}
    assert outcome.rows[0].published == 1.4
    assert isinstance(outcome.inputs, Inputs)
    assert set(KERNELS) == set(outcome.inputs.kernels)


@pytest.mark.parametrize("kernels", KERNELS)
def test_most_of_the_gain_disappears_against_the_stronger_baseline(outcome: ExperimentOutcome, kernels: str) -> None:
    weak, strong = (gain(outcome, BOTH, menu=f"{menu} menu", kernels=kernels) for menu in ("weak", "strong"))
    assert 1.3 <= weak <= 1.5
    assert 1.08 <= strong <= 1.2
    assert strong - 1 < 0.5 * (weak - 1)


@pytest.mark.parametrize("kernels", KERNELS)
def test_capacity_counts_and_bandwidth_is_what_the_cache_lets_through(outcome: ExperimentOutcome, kernels: str) -> None:
    """A layer whose forward pass is not redone takes 3/4 of the time; the rest is fewer messages and bubbles."""
    assert gain(outcome, CAPACITY, kernels=kernels) == pytest.approx(4 / 3, abs=0.05)
    assert 1.03 <= gain(outcome, BANDWIDTH + BEHIND_L2, kernels=kernels) <= 1.07
    assert gain(outcome, BANDWIDTH + BEHIND_L2, kernels=kernels) < gain(outcome, BANDWIDTH, kernels=kernels) < 1.15
    assert gain(outcome, CAPACITY, kernels=kernels) < gain(outcome, BOTH + BEHIND_L2, kernels=kernels)
    assert gain(outcome, BOTH + BEHIND_L2, kernels=kernels) < gain(outcome, BOTH, kernels=kernels)


def test_bandwidth_gains_what_memory_binds(inputs: Inputs, outcome: ExperimentOutcome) -> None:
    """Amdahl's law with the share of the step in which memory binds; launches, which are in it, stay as they are."""
    job = inputs.workload("1t", "weak menu", FITTED)
    devices = training_gain.systems(inputs)
    fabric = fat_tree_of(system_of(inputs.device), inputs.num_devices)
    scores = search(job, [inputs.num_devices], devices[BASELINE], fabric, top=1).best[0].scores
    step_s, memory_s, bubble_s = (float(each[0]) for each in (scores.step_s, scores.memory_s, scores.bubble_s))
    share = memory_s / step_s * (1 + bubble_s / (step_s - bubble_s))
    for system in (BANDWIDTH, BANDWIDTH + BEHIND_L2):
        faster = devices[BASELINE].memory_bytes_per_s / devices[system].memory_bytes_per_s
        most = 1 / (1 - share * (1 - faster))
        # products that compute binds wait a little for memory too
        assert 1 + 0.7 * (most - 1) <= gain(outcome, system) <= 1.002 * most


def test_systems_differ_in_memory_alone(inputs: Inputs) -> None:
    found = training_gain.systems(inputs)
    sizes = {name: (device.memory_bytes_per_s / 1e12, device.capacity_bytes / 1e9) for name, device in found.items()}
    assert sizes[BASELINE] == (2.039, 80)
    assert sizes[BOTH] == (pytest.approx(12.288), pytest.approx(576))
    assert sizes[BANDWIDTH] == (sizes[BOTH][0], 80)
    assert sizes[CAPACITY] == (2.039, sizes[BOTH][1])
    assert sizes[BOTH + BEHIND_L2] == (pytest.approx(3.61), sizes[BOTH][1])
    kept = {"capacity_bytes", "memory_bytes_per_s", "memory_j_per_byte", "power_limit_w", "sources", "aliases"}
    assert len({device.model_dump_json(by_alias=False, exclude=kept) for device in found.values()}) == 1


@pytest.mark.slow
def test_dots_end_at_the_best(inputs: Inputs, outcome: ExperimentOutcome) -> None:
    few = changed(inputs, sweep={**inputs.sweep.model_dump(), "sizes": [16, 4096]})
    dots = list(training_gain.dots(few))
    assert [(d.label, d.num_devices, d.system) for d in dots[:4]] == [
        ("175b", 16, BASELINE), ("175b", 16, BANDWIDTH), ("175b", 16, BOTH), ("175b", 4096, BASELINE)
    ]  # fmt: skip
    for each in dots:
        assert np.all(np.diff(each.mfu) >= 0)
        if each.num_devices == 4096:
            for menu, best in (("weak menu", each.mfu[-1]), ("strong menu", each.best_beside)):
                name = f"MFU {each.label}, {menu}, {each.system}, {FITTED}"
                assert best == pytest.approx(outcome.quantities[name], rel=1e-12)
    assert [len(d.mfu) > 0 for d in dots if d.num_devices == 16] == [False, False, True, False, False, False]


def test_bad_inputs(inputs: Inputs) -> None:
    with pytest.raises(ValueError, match="menu 'wide' is unknown; use one of weak menu, strong menu"):
        changed(inputs, sweep={**inputs.sweep.model_dump(), "menu": "wide"})
    with pytest.raises(ValueError, match="kernels 'quick' are unknown; use one of fitted"):
        changed(inputs, sweep={**inputs.sweep.model_dump(), "kernels": "quick"})
    with pytest.raises(ValueError, match="recompute"):
        changed(inputs, menus={**inputs.menus, "weak menu": {"recompute": "some"}})
    with pytest.raises(ValueError, match="num_devices: no mapping of 175b fits on 16 of baseline; give more"):
        training_gain.compute(changed(inputs, num_devices=16))
