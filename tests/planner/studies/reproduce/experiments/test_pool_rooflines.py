"""SiPAM: what is reproduced under which reading, and the bound that the stated one has."""

import numpy as np
import pytest
import yaml
from matplotlib.figure import Figure

from planner.plotting.reproduced import FIGURES
from planner.studies.reproduce.experiments.pool_rooflines import NORMALIZED, OWN, READINGS
from planner.studies.reproduce.published import FOLDER
from tests.planner.studies.reproduce.experiments.pools import outcome

NAMES = ("intensity", "iteration")


@pytest.mark.slow
def test_nothing_required_is_outside() -> None:
    assert not [row.quantity for name in NAMES for row in outcome(name).rows if row.is_failure]


def test_what_an_unpublished_batch_decides_is_not_derivable() -> None:
    rows = {row.quantity: row for name in NAMES for row in outcome(name).rows}
    assert not [row for row in rows.values() if row.verdict == "contradicted"]
    ratio = rows["least training intensity over that of inference"]
    assert ratio.verdict == "not derivable"
    assert ratio.beside["batch 8"] < 1 < ratio.beside["batch 16"]
    for phase in ("training", "inference"):
        stated = rows[f"{phase} gain under the stated normalization"]
        assert (stated.verdict, stated.counts) == ("not derivable", False)
        assert "compute bounds may gain from more accelerators" in stated.reason
        assert rows[f"largest {phase} gain, {OWN}"].verdict == "fitted"


def test_both_files_have_the_same_inputs() -> None:
    assert outcome("intensity").inputs.model_dump() == outcome("iteration").inputs.model_dump(
        exclude={"catalog_device"}
    )


def test_bounds() -> None:
    found = outcome("iteration").quantities
    for reading in READINGS:
        bound = found[f"bound of the memory bandwidth gain, {reading}"]
        for phase in ("training", "inference"):
            assert found[f"largest {phase} gain, {reading}"] <= bound * (1 + 1e-12)
            assert (
                found[f"largest {phase} gain, {reading}, with added latency"]
                < found[f"largest {phase} gain, {reading}"]
            )
    assert found[f"bound of the memory bandwidth gain, {NORMALIZED}"] == pytest.approx(1.2, rel=1e-12)
    assert found["least memory bandwidth gain, sized by capacity"] == pytest.approx(1.0, rel=1e-12)
    assert found["most memory bandwidth gain, sized by capacity"] == pytest.approx(1.0, rel=1e-12)


def test_pools_follow_workloads() -> None:
    """A ridge never lies above the intensity that it was made for; the baseline's is the same for all."""
    found = outcome("intensity").quantities
    for name in ("126M training", "126M inference", "5B inference", "13B inference", "22B inference"):
        assert found[f"ridge {name}, {OWN}"] <= found[f"intensity {name}"]
        assert found[f"ridge {name}, {OWN}"] > 0.75 * found[f"intensity {name}"]
    assert found[f"ridge 126M training, {NORMALIZED}"] == pytest.approx(1e15 / 3.6e12)


def test_files_are_labelled() -> None:
    for name in NAMES:
        text = (FOLDER / "sipam" / f"{name}.yaml").read_text(encoding="utf-8")
        assert "sum of both directions" in text
        rows = [row for row in yaml.safe_load(text)["published"] if row.get("origin") != "independent"]
        assert rows


@pytest.mark.slow
def test_rooflines_show_each_ridge_and_intensity() -> None:
    ax = FIGURES["pool_rooflines"](Figure().subplots(), outcome("intensity"))
    found = outcome("intensity").quantities
    for mark, wanted in (("o", OWN), ("s", NORMALIZED)):
        places = [line.get_xdata()[0] for line in ax.get_lines() if line.get_marker() == mark and len(line.get_xdata())]
        ridges = [v for k, v in found.items() if k.startswith("ridge") and k.endswith(f"training, {wanted}")]
        np.testing.assert_allclose(sorted(places), sorted(ridges))
    assert "TFLOP/s" in ax.get_ylabel()


@pytest.mark.slow
def test_figure_three_shows_both_readings() -> None:
    figure = Figure()
    FIGURES["pool_gains"](figure.subplots(), outcome("iteration"))
    assert len(figure.axes) == 4
    found = outcome("iteration").quantities
    for panel, phase in zip(figure.axes[2:], ("training", "inference"), strict=True):
        heights = [bar.get_height() for bar in panel.patches]
        models = outcome("iteration").inputs.model_dump()["models"]
        assert heights == pytest.approx([found[f"gain {m} {phase}, {reading}"] for reading in READINGS for m in models])
    labels = [tick.get_text() for tick in figure.axes[1].get_xticklabels()]
    assert [label for label in labels if label.endswith("*")] == ["530B*"]
