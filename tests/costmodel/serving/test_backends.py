"""Numbers of backends and pairs: what goes before what, and what is known of them."""

from costmodel.hardware.device import load_device
from costmodel.pricing.calibration import Calibration
from costmodel.serving.backends import ServingCurve, model_name, serving_curve
from costmodel.workloads.transformer.shapes import load_model

H100, H200 = load_device("h100"), load_device("h200")
PART = Calibration(
    device="h100-sxm",
    families={"serving": {"engine": {"layer_s": 1e-5, "turnaround": 0.5}, "engine/qwen3-32b": {"turnaround_s": 0.0}}},
    source="made up",
)


def test_a_pair_overrides_its_backend() -> None:
    curve, is_calibrated = serving_curve(H100, "engine", "qwen3-32b", (PART,))
    assert (curve.layer_s, curve.turnaround_s, is_calibrated) == (1e-5, 0.0, True)


def test_an_unseen_model_takes_the_backend_and_is_not_calibrated() -> None:
    curve, is_calibrated = serving_curve(H100, "engine", "llama-3.1-8b", (PART,))
    assert (curve.layer_s, curve.turnaround_s, is_calibrated) == (1e-5, 0.5, False)


def test_an_unseen_backend_takes_the_defaults_and_is_not_calibrated() -> None:
    assert serving_curve(H100, "other", "qwen3-32b", (PART,)) == (ServingCurve(), False)


def test_a_device_of_the_same_architecture_has_the_same_numbers() -> None:
    curve, is_calibrated = serving_curve(H200, "engine", "qwen3-32b", (PART,))
    assert curve == serving_curve(H100, "engine", "qwen3-32b", (PART,))[0]
    assert not is_calibrated


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


def test_shapes_are_known_by_their_catalog_name() -> None:
    assert model_name(load_model("Qwen3-32B")) == "qwen3-32b"
    assert model_name(load_model("qwen3-32b").model_copy(update={"layers": 3})) == ""
