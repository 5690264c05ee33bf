"""MFU against the number of accelerators."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from planner.model.files import load
from planner.plotting.mfu_dots import COLOURS, MOST, mfu_dots, thinned
from planner.studies.reproduce.experiments import training_gain
from planner.studies.reproduce.published import FOLDER, Published
from planner.studies.reproduce.run import ExperimentOutcome


@pytest.fixture(scope="module")
def outcome() -> ExperimentOutcome:
    """Two sizes; nothing is computed but what the figure asks for."""
    published = load(Published, FOLDER / "optical_hbm" / "training.yaml")
    sweep = {**published.inputs["sweep"], "sizes": [64, 4096]}
    inputs = training_gain.Inputs.model_validate({**published.inputs, "sweep": sweep})
    return ExperimentOutcome("training", published, inputs, {}, ())


@pytest.mark.slow
def test_each_system_has_its_dots_and_its_best(outcome: ExperimentOutcome) -> None:
    inputs = outcome.inputs
    assert isinstance(inputs, training_gain.Inputs)
    ax = mfu_dots(Figure().subplots(), outcome)
    clouds = [line for line in ax.get_lines() if line.get_marker() == "."]
    best = [line for line in ax.get_lines() if line.get_marker() == "_" and len(line.get_xdata())]
    assert [line.get_color() for line in clouds] == list(COLOURS.values())
    for system, cloud, marks in zip(COLOURS, clouds, best, strict=True):
        dots = [each for each in training_gain.dots(inputs) if each.system == system]
        assert len(cloud.get_xdata()) == sum(min(len(each.mfu), MOST) for each in dots)
        expected = [each.mfu[-1] if len(each.mfu) else np.nan for each in dots]
        np.testing.assert_array_equal(np.asarray(marks.get_ydata(), float), expected)
    assert [text.get_text() for text in ax.texts if text.get_text() in ("175B", "1T")] == ["175B", "1T"]
    assert str(MOST) in ax.get_xlabel()


def test_a_system_on_which_nothing_fits_has_no_dots(outcome: ExperimentOutcome) -> None:
    assert isinstance(outcome.inputs, training_gain.Inputs)
    sweep = outcome.inputs.sweep.model_copy(update={"sizes": (1,)})
    none = replace(outcome, inputs=outcome.inputs.model_copy(update={"sweep": sweep}))
    ax = mfu_dots(Figure().subplots(), none)
    assert sum(len(line.get_xdata()) for line in ax.get_lines() if line.get_marker() == ".") == 0


def test_thinning_keeps_both_ends() -> None:
    values = np.sort(np.random.default_rng(0).random(1234))
    kept = thinned(values, 50)
    assert len(kept) == 50
    assert (kept[0], kept[-1]) == (values[0], values[-1])
    assert set(kept) <= set(values)
    np.testing.assert_array_equal(thinned(values[:50], 50), values[:50])
