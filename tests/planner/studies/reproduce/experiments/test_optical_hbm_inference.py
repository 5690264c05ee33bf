"""Inference with optical memory."""

import numpy as np
import pytest

from planner.studies.reproduce.experiments import optical_hbm_inference
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
    one, other = optical_hbm_inference.compute(base), optical_hbm_inference.compute(halved)
    for key, value in one.items():
        assert other[key] == pytest.approx(value, rel=0.01)


def test_loads_behind_compute_leave_little_of_the_prefill_gain() -> None:
    base = outcome("optical_hbm", "prefill").inputs
    assert isinstance(base, optical_hbm_inference.Inputs)
    hidden = base.model_copy(update={"rules": base.rules.model_copy(update={"overlaps_memory": True})})
    assert optical_hbm_inference.compute(hidden)["prefill gain mean, fast L2"] == pytest.approx(1.07, abs=0.005)
    linked = base.model_copy(update={"link_bytes_per_s": 300e9})
    with_link = optical_hbm_inference.compute(linked)["prefill gain mean, fast L2"]
    assert 1.08 < with_link < optical_hbm_inference.compute(base)["prefill gain mean, fast L2"]
