"""Inference on optical memory: published figures, the closed forms behind them, and both readings."""

import numpy as np
import pytest

from planner.studies.reproduce.experiments import modules, photonic_inference
from tests.planner.studies.reproduce.experiments.inference import outcome


@pytest.mark.parametrize(("name", "fitted"), [("inference_405b", 2), ("inference_1t", 2), ("inference_batches", 2)])
def test_numbers_that_efficiencies_were_chosen_on_are_fitted_and_the_rest_follows(name: str, fitted: int) -> None:
    rows = outcome("photonic_fabric", name).rows
    assert {row.verdict for row in rows} <= {"reproduced", "fitted"}
    chosen = [row for row in rows if row.verdict == "fitted"]
    assert len(chosen) == fitted
    assert all(row.published_number not in (128, 4096) and row.unit for row in chosen)


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
