"""Numbers of backends and pairs: what goes before what, and what is known of them."""

import pytest

from costmodel.hardware.device import load_device
from costmodel.pricing.calibration import Calibration
from costmodel.serving.backends import GENERIC, ServingCurve, backend_names, require_backend, serving_curve, usual_curve
from costmodel.workloads.transformer.shapes import load_model, model_name

H100, H200, A100 = load_device("h100"), load_device("h200"), load_device("a100")
PART = Calibration(
    device="h100-sxm",
    families={"serving": {"engine": {"layer": 1e-5, "missed_steps": 5}, "engine/qwen3-32b": {"missed_steps": 0.0}}},
    source="made up",
)


def test_a_pair_overrides_its_backend() -> None:
    curve, is_calibrated = serving_curve(H100, "engine", "qwen3-32b", (PART,))
    assert (curve.layer_s, curve.missed_steps, is_calibrated) == (1e-5, 0.0, True)


def test_an_unseen_model_takes_the_backend_and_is_not_calibrated() -> None:
    curve, is_calibrated = serving_curve(H100, "engine", "llama-3.1-8b", (PART,))
    assert (curve.layer_s, curve.missed_steps, is_calibrated) == (1e-5, 5.0, False)


def test_an_unseen_backend_takes_the_defaults_and_is_not_calibrated() -> None:
    assert serving_curve(H100, "other", "qwen3-32b", (PART,)) == (ServingCurve(), False)


def test_a_backend_that_was_never_fitted_has_the_settings_of_its_documentation() -> None:
    generic = Calibration(device="h100-sxm", families={"serving": {GENERIC: {"layer": 3e-5}}}, source="made up")
    curve, is_calibrated = serving_curve(H100, "sglang", "qwen3-32b", (generic,))
    assert (curve.layer_s, curve.prefill_tokens, is_calibrated) == (3e-5, 16384, False)
    assert serving_curve(H100, "trtllm", "qwen3-32b", (generic,))[0].kv_follows_weights


def test_a_device_of_the_same_architecture_has_the_same_numbers() -> None:
    curve, is_calibrated = serving_curve(H200, "engine", "qwen3-32b", (PART,))
    assert curve == serving_curve(H100, "engine", "qwen3-32b", (PART,))[0]
    assert not is_calibrated


def test_software_is_the_same_on_a_device_of_another_architecture() -> None:
    curve, is_calibrated = serving_curve(A100, "engine", "llama-3.1-8b", (PART,))
    assert (curve.layer_s, is_calibrated) == (1e-5, False)


def test_numbers_of_the_catalog_are_few_and_cover_the_pairs_that_were_measured() -> None:
    for backend, model in [
        ("trtllm", "llama-3.1-8b"),
        ("trtllm", "qwen3-32b"),
        ("vllm", "llama-3.1-70b"),
        ("vllm", "qwen3-32b"),
        ("sglang", "qwen3-32b"),
    ]:
        assert serving_curve(H100, backend, model)[1]
        assert serving_curve(H200, backend, model) == (serving_curve(H100, backend, model)[0], False)
    assert not serving_curve(H100, "vllm", "llama-3.1-8b")[1]
    assert len(ServingCurve.model_fields) <= 12


def test_the_way_with_memory_is_that_of_the_backend_wherever_it_runs() -> None:
    assert usual_curve("trtllm").kv_follows_weights
    assert usual_curve("sglang").runtime_bytes > usual_curve(GENERIC).runtime_bytes


def test_unknown_backends_are_refused_by_name() -> None:
    assert {GENERIC, "sglang", "trtllm", "vllm"} <= set(backend_names())
    with pytest.raises(ValueError, match="did you mean vllm"):
        require_backend("vlm")


def test_shapes_are_known_by_their_catalog_name() -> None:
    assert model_name(load_model("Qwen3-32B")) == "qwen3-32b"
    assert model_name(load_model("qwen3-32b").model_copy(update={"layers": 3})) == ""
