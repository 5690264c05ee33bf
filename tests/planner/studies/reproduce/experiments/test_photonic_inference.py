"""Inference on optical memory: published figures, the closed forms behind them, and both readings."""

import numpy as np
import pytest

from costmodel.hardware.device import load_device
from costmodel.kernels.collective import node_collective_s
from planner.studies.reproduce.experiments import modules, photonic_inference
from planner.studies.reproduce.experiments.photonic_inference import KEPT
from planner.studies.reproduce.experiments.static_batches import PRODUCT
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


def test_figures_of_the_fitted_kernels_stand_beside_all_others() -> None:
    """That eight accelerators on the appliance are spared their all-reduces is worth less where these are faster."""
    found = outcome("photonic_fabric", "inference_405b").quantities
    ours = {name.removesuffix(PRODUCT) for name in found if name.endswith(PRODUCT) and not name.endswith(KEPT)}
    assert ours == {name for name in found if not name.endswith(PRODUCT)}
    assert found[f"throughput gain{PRODUCT}"] == pytest.approx(3.6, rel=0.05)
    assert 1 < found[f"latency gain{PRODUCT}"] < found["latency gain"]


def test_one_user_is_spared_the_all_reduces_alone() -> None:
    """Eight H100 read at 8 x 3.35 TB/s, as the appliance does; a token has two all-reduces in each of 126 layers.

    Its time without them: 403.7e9 weights of layers in fp8 and 2.1e9 of the vocabulary in bf16 at 0.84 of the peak,
    four kernels of 2.5 us a layer, all 6 % slower in an engine, and 17 us of gaps a layer. Kernels on the appliance,
    which divide nothing, are 3 % slower than that.
    """
    kernels_s = (403.7e9 + 2 * 2.1e9) / (0.84 * 8 * 3350e9) + 126 * 4 * 2.5e-6
    token_s = 1.06 * kernels_s + 126 * 17e-6
    spared_s = 2 * 126 * float(node_collective_s("all_reduce", 8, 2 * 16384, load_device("h100-sxm")))
    inputs = outcome("photonic_fabric", "inference_405b").inputs
    assert isinstance(inputs, photonic_inference.Inputs)
    alone = inputs.model_copy(update={"requests": ((128, 4096),), "batch_limit": 1, "compute_shares": (1.0,)})
    throughput, latency = photonic_inference.gains_by_compute(alone, None)
    assert latency[0, 0] == pytest.approx(1 + spared_s / token_s, abs=0.05)
    assert throughput[0, 0] == pytest.approx(latency[0, 0], rel=1e-9)


def test_what_exceeds_the_stacks_is_read_from_behind_them() -> None:
    """Of 1024 users with 4,224 tokens each the caches are 2.2 TB, the stacks 1.15 TB: all that is read comes at the 5.7
    TB/s of the DDR. Fewer users, as many as the stacks hold, are read through the ports at 14.4 TB/s."""
    inputs = outcome("photonic_fabric", "inference_405b").inputs
    assert isinstance(inputs, photonic_inference.Inputs)
    chat, system = (128, 4096), photonic_inference.behind_ports(inputs)
    many, some = 1024, 256
    served = photonic_inference.serve_users(inputs, None, system, chat, (many, some))
    per_user = 126 * 2 * 8 * 128 * 2 * 2176
    weights = 405.85e9
    for row, (users, rate) in enumerate(((many, 16 * 358.4e9), (some, 14.4e12))):
        least_s = (weights + users * per_user) / rate
        assert least_s < served.token_s[row] < 1.6 * least_s
    found = outcome("photonic_fabric", "inference_405b").quantities
    at_ports = found[f"throughput gain, at the ports{PRODUCT}"]
    assert found[f"throughput gain{KEPT}"] < at_ports < found[f"throughput gain{PRODUCT}"]
    assert found[f"latency gain{KEPT}"] == pytest.approx(found[f"latency gain, at the ports{PRODUCT}"], rel=0.01)


def test_more_users_on_the_appliance_gain_more() -> None:
    """A baseline with room for more of them loses less, and so does one with a cache of half the size."""
    inputs = outcome("photonic_fabric", "inference_405b").inputs
    assert isinstance(inputs, photonic_inference.Inputs)
    chat = inputs.model_copy(update={"requests": ((128, 4096),), "compute_shares": (1.0,)})

    def gain(**changes: object) -> float:
        changed = chat.model_copy(update=changes)
        return float(photonic_inference.gains_by_compute(changed, None)[0][0, 0])

    gains = [gain(batch_limit=limit) for limit in (1, 256, 1024)]
    assert gains == sorted(gains)
    assert 1 < gain(capacity_bytes=320e9) < gains[-1]
    assert gain(kv_precision="fp8") < gains[-1]


def test_batches_are_bounded_by_memory() -> None:
    found = outcome("photonic_fabric", "inference_batches").quantities
    cache = 126 * 2 * 8 * 128 * 2 * 4224
    assert found["largest batch of baseline, 128 in 4096 out"] == (0.95 * 640e9 - 405_853_388_800) // cache
    assert found["largest batch of appliance, 4096 in 4096 out"] == 1024


def test_more_compute_never_hurts() -> None:
    inputs = outcome("photonic_fabric", "inference_1t").inputs
    assert isinstance(inputs, photonic_inference.Inputs)
    for rules in (inputs.rules, None):
        throughput, latency = photonic_inference.gains_by_compute(inputs, rules)
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
