"""Where the shares of a device's peaks come from."""

import pytest
from pydantic import ValidationError

from costmodel.hardware.device import load_device
from costmodel.pricing.calibration import Calibration
from costmodel.pricing.efficiency import Efficiency, efficiency_of, typical_matrix

H100 = load_device("h100-sxm")
NUMBERS = {"matrix": 0.6, "attention": 0.3, "memory": 0.9, "launch": 2e-6, "step": 1e-3}
FILED = {"matrix": 0.6, "attention": 0.3, "memory": 0.9, "launch_s": 2e-6, "step_s": 1e-3}


def calibrations(device: str, variant: str) -> tuple[Calibration, ...]:
    return (Calibration(device=device, families={"training": {variant: FILED}}, source="numbers of this test"),)


def test_without_a_fit_the_part_says() -> None:
    found, is_fitted = efficiency_of(H100, "inference", "bf16", ())
    assert not is_fitted
    assert (found.matrix, found.attention) == (H100.matrix_efficiency, H100.matrix_efficiency)
    assert (found.memory, found.launch_s, found.step_s) == (H100.memory_efficiency, H100.launch_s, 0.0)
    training, is_fitted = efficiency_of(H100, "training", "bf16", ())
    assert not is_fitted
    assert training.attention < training.matrix <= H100.matrix_efficiency
    assert training.launch_s > H100.launch_s


@pytest.mark.parametrize(("device", "is_own"), [("h100-sxm", True), ("h200-sxm", False)])
def test_a_fit_comes_first_and_serves_devices_that_are_alike(device: str, is_own: bool) -> None:
    found, is_fitted = efficiency_of(load_device(device), "training", "bf16", calibrations("h100-sxm", "bf16"))
    assert found == Efficiency.model_validate(NUMBERS)
    assert is_fitted == is_own


def test_a_fit_of_another_kind_of_device_does_not_serve() -> None:
    found, is_fitted = efficiency_of(load_device("a100-sxm"), "training", "bf16", calibrations("h100-sxm", "bf16"))
    assert not is_fitted
    assert found == efficiency_of(load_device("a100-sxm"), "training", "bf16", ())[0]


def test_fp16_runs_like_bf16_and_fp8_does_not() -> None:
    fitted = calibrations("h100-sxm", "bf16")
    assert efficiency_of(H100, "training", "fp16", fitted)[1]
    assert not efficiency_of(H100, "training", "fp8", fitted)[1]
    assert not efficiency_of(H100, "inference", "bf16", fitted)[1]


@pytest.mark.parametrize("key", ["matrix", "attention", "memory"])
def test_no_share_is_above_one(key: str) -> None:
    with pytest.raises(ValidationError, match=key):
        Efficiency.model_validate(NUMBERS | {key: 1.1})


def test_what_holds_for_all_precisions_is_that_of_the_device_itself() -> None:
    """Links and attention of a device go before those of one it is like; what it lacks scales by the links' peaks."""
    gb200, b200 = (load_device(name) for name in ("gb200", "b200-sxm"))
    like = calibrations(b200.name, "bf16")[0].model_copy(
        update={"families": {"training": {"bf16": FILED | {"link_bytes_per_s": 300e9}}}}
    )
    own = calibrations(gb200.name, "fp8")[0].model_copy(
        update={"families": {"training": {"fp8": FILED | {"attention": 0.4, "link_bytes_per_s": 600e9}}}}
    )
    found, is_fitted = efficiency_of(gb200, "training", "bf16", (like, own))
    assert (found.matrix, found.attention, found.link_bytes_per_s, is_fitted) == (0.6, 0.4, 600e9, False)
    alone, _ = efficiency_of(gb200, "training", "bf16", (like,))
    assert (alone.attention, alone.link_bytes_per_s) == (0.3, 300e9 * gb200.link_bytes_per_s / b200.link_bytes_per_s)


def test_a_part_of_other_peaks_is_to_its_kin_in_one_precision_as_in_another() -> None:
    """GB200 reaches half of B200's share in fp8, and so in bf16; B300 has the peaks of B200, and its share."""
    b200 = Calibration(
        device="b200-sxm", source="numbers of this test",
        families={"training": {"bf16": FILED | {"matrix": 0.6}, "fp8": FILED | {"matrix": 0.8}}},
    )  # fmt: skip
    for name, expected in (("gb200", 0.3), ("b300-sxm", 0.6)):
        own = Calibration(
            device=name, families={"training": {"fp8": FILED | {"matrix": 0.4}}}, source="numbers of this test"
        )
        found, is_fitted = efficiency_of(load_device(name), "training", "bf16", (b200, own))
        assert (found.matrix, is_fitted) == (pytest.approx(expected), False)
        assert efficiency_of(load_device(name), "training", "bf16", (b200,))[0].matrix == 0.6


def test_what_training_reaches_falls_with_the_balance_of_a_device() -> None:
    """Half of the matrix peak where it is 1,150 FLOP for each byte of memory; no more than single kernels reach."""
    half = H100.model_copy(update={"flops_per_s": {"bf16": 1150 * H100.memory_bytes_per_s}})
    assert typical_matrix(half, "bf16") == pytest.approx(0.5)
    assert typical_matrix(H100, "fp8") < typical_matrix(H100, "bf16") == H100.matrix_efficiency
