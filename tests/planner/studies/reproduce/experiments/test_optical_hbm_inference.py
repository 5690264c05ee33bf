"""Inference with optical memory."""

import numpy as np
import pytest

from planner.studies.reproduce.experiments import optical_hbm_inference
from planner.studies.reproduce.experiments.static_batches import PRODUCT
from tests.planner.studies.reproduce.experiments.inference import outcome

HIDDEN = {"175b": 12288, "1t": 25600}
CONTEXTS = np.array([1024, 2048, 4096, 8192, 16384])


@pytest.mark.parametrize("name", ["modules", "decode", "prefill", "one_rule"])
def test_optical_hbm_is_reproduced(name: str) -> None:
    verdict = "by construction" if name == "modules" else "fitted"
    assert {row.verdict for row in outcome("optical_hbm", name).rows} == {verdict}


@pytest.mark.parametrize("model", HIDDEN)
@pytest.mark.parametrize(("system", "bandwidth"), [("own L2", 7.22e12 / 2), ("fast L2", 12e12)])
def test_decode_follows_the_closed_form(model: str, system: str, bandwidth: float) -> None:
    """Weights and cache over min(memory, L2 / 2), and 89 us for each layer."""

    def seconds(rate: float) -> np.ndarray:
        return (24 * HIDDEN[model] ** 2 / 8 + 32 * CONTEXTS * HIDDEN[model] / 8) / rate + 89e-6

    expected = float((seconds(2039e9) / seconds(bandwidth)).mean())
    assert outcome("optical_hbm", "decode").quantities[f"decode gain {model}, {system}"] == pytest.approx(
        expected, rel=0.005
    )


def test_only_overhead_times_tensor_group_is_identified() -> None:
    base = outcome("optical_hbm", "decode").inputs
    assert isinstance(base, optical_hbm_inference.Inputs)
    halved = base.model_copy(update={"tensor": 4, "rules": base.rules.model_copy(update={"layer_overhead_s": 178e-6})})
    both = (optical_hbm_inference.speedups(inputs, inputs.rules) for inputs in (base, halved))
    for one, other in zip(*both, strict=True):
        for system, gain in one.gains.items():
            np.testing.assert_allclose(other.gains[system], gain, rtol=0.01)


def test_loads_behind_compute_leave_little_of_the_prefill_gain() -> None:
    base = outcome("optical_hbm", "prefill").inputs
    assert isinstance(base, optical_hbm_inference.Inputs)

    def gain(**changes: bool) -> float:
        rules = base.rules.model_copy(update=changes)
        return float(np.mean([each.gains["fast L2"] for each in optical_hbm_inference.speedups(base, rules)]))

    assert gain(overlaps_memory=True) == pytest.approx(1.07, abs=0.005)
    assert 1.08 < gain(all_reduces=True) < gain()


def test_fitted_kernels_gain_less_than_the_paper_says() -> None:
    """What a decode step takes beside its traffic dilutes the gain; faster caches never hurt."""
    for name, phase in (("decode", "decode"), ("prefill", "prefill")):
        found = outcome("optical_hbm", name).quantities
        ours = [found[f"{phase} gain mean, {system}{PRODUCT}"] for system in ("own L2", "fast L2", "no L2 limit")]
        assert ours == sorted(ours)
        assert 1 < ours[1] < found[f"{phase} gain mean, fast L2"]
