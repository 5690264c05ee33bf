"""Inference on optical memory: published figures, the closed forms behind them, and both readings."""

import numpy as np
import pytest

from costmodel.catalog import documents
from planner.studies.reproduce.experiments import modules, optical_hbm_inference, photonic_batches, photonic_inference
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import ExperimentOutcome, reproduce_file

HIDDEN = {"175b": 12288, "1t": 25600}
CONTEXTS = np.array([1024, 2048, 4096, 8192, 16384])


def outcome(paper: str, name: str) -> ExperimentOutcome:
    return reproduce_file(FOLDER / paper / f"{name}.yaml")


@pytest.mark.parametrize("name", ["modules", "decode", "prefill", "one_rule"])
def test_optical_hbm_is_reproduced(name: str) -> None:
    assert {row.verdict for row in outcome("optical_hbm", name).rows} == {"reproduced"}


@pytest.mark.parametrize("name", ["inference_405b", "inference_1t", "inference_batches"])
def test_photonic_fabric_is_reproduced(name: str) -> None:
    assert {row.verdict for row in outcome("photonic_fabric", name).rows} == {"reproduced"}


def test_the_specification_contradicts_the_evaluation() -> None:
    rows = outcome("photonic_fabric", "modules").rows
    contradicted = {row.quantity: (row.published, row.ours) for row in rows if row.verdict == "contradicted"}
    assert contradicted["ports for evaluated rate"] == (16, 30)
    assert contradicted["switching rate"] == (26.8, pytest.approx(14.4))
    assert {row.verdict for row in rows} == {"reproduced", "contradicted"}


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


def test_both_readings_of_the_bandwidth() -> None:
    found = outcome("photonic_fabric", "inference_405b").quantities
    assert found["throughput gain"] == pytest.approx(3.46, rel=0.01)
    assert found["latency gain"] == pytest.approx(1.48, rel=0.01)
    assert found["throughput gain, at the ports"] == pytest.approx(2.5, rel=0.01)
    request = "128 in 4096 out, 1 of the compute, at the ports"
    assert found[f"latency gain {request}"] == pytest.approx(0.78, rel=0.01)
    assert found["latency gain, at the ports"] < 1 < found["throughput gain, at the ports"]


def test_batches_are_bounded_by_memory() -> None:
    found = outcome("photonic_fabric", "inference_batches").quantities
    cache = 126 * 2 * 8 * 128 * 2 * 4224
    assert found["largest batch of baseline, 128 in 4096 out"] == (0.95 * 640e9 - 405_853_388_800) // cache
    assert found["largest batch of appliance, 4096 in 4096 out"] == 1024


def test_curves_rise_and_end_at_the_largest_batch() -> None:
    inputs = outcome("photonic_fabric", "inference_batches").inputs
    assert isinstance(inputs, photonic_batches.Inputs)
    curves = photonic_batches.curves(inputs)
    assert len(curves) == 8
    for curve in curves:
        assert np.all(np.diff(curve.output_tokens_per_s) > 0)


def test_more_compute_never_hurts() -> None:
    inputs = outcome("photonic_fabric", "inference_1t").inputs
    assert isinstance(inputs, photonic_inference.Inputs)
    throughput, latency = photonic_inference.gains_by_compute(inputs)
    assert throughput.shape == latency.shape == (4, 4)
    assert np.all(np.diff(throughput, axis=0) >= 0)
    assert np.all(np.diff(latency, axis=0) >= 0)


def test_bad_inputs() -> None:
    with pytest.raises(ValueError, match="unknown module 'optical-hbm-a10'; did you mean optical-hbm-a100"):
        modules.Inputs(part="optical-hbm-a10")
    inputs = outcome("photonic_fabric", "inference_405b").inputs
    with pytest.raises(ValueError, match=r"compute_shares: .* must grow from above 0 to 1"):
        photonic_inference.Inputs.model_validate(inputs.model_dump() | {"compute_shares": [1.0, 0.5]})
    crowded = photonic_inference.Inputs.model_validate(inputs.model_dump() | {"tensor": 4})
    with pytest.raises(ValueError, match="no sequence fits beside the weights"):
        photonic_inference.compute(crowded)


def test_every_module_of_the_catalog_has_its_arithmetic() -> None:
    for name, content in documents().items():
        if content.get("kind") in modules.QUANTITIES:
            assert all(value > 0 for value in modules.compute(modules.Inputs(part=name)).values())
