"""Fits become catalog parts, one a device; old curves stay where nothing new replaces them."""

from costmodel.calibrate.family import Fit
from costmodel.calibrate.parts import merged, parts_of
from costmodel.pricing.calibration import Calibration

FIT = Fit(
    curves={("h100", "node"): {"a_s": 1.23456789e-6}, ("a100", "node"): {"a_s": 2.0}},
    mean_error={("h100", "node"): 0.05, ("a100", "node"): 0.06},
    rows={("h100", "node"): 110},
)


def test_one_part_a_device_by_its_name_in_the_catalog() -> None:
    parts = parts_of({"nccl": FIT})
    assert list(parts) == ["a100-sxm", "h100-sxm"]
    assert parts["h100-sxm"].families == {"nccl": {"node": {"a_s": 1.2346e-6}}}
    assert parts["h100-sxm"].source == "nccl node: 110 rows, mean error 5.0 %"
    assert parts_of({"nccl": FIT}, "a rack")["a100-sxm"].source == "a rack"


def test_new_curves_replace_old_ones_of_the_same_variant_alone() -> None:
    old = Calibration(
        device="h100-sxm",
        families={"nccl": {"node": {"a_s": 9.0}, "rack": {"a_s": 8.0}}, "gemm": {"bf16": {"b": 1.0}}},
        source="gemm bf16: 5 rows; nccl node: 3 rows, mean error 9.0 %",
    )
    new = merged(old, parts_of({"nccl": FIT})["h100-sxm"])
    assert new.families["gemm"] == {"bf16": {"b": 1.0}}
    assert new.families["nccl"] == {"node": {"a_s": 1.2346e-6}, "rack": {"a_s": 8.0}}
    assert new.source == "gemm bf16: 5 rows; nccl node: 110 rows, mean error 5.0 %"


def test_software_and_date_make_an_origin_that_follows_its_curve() -> None:
    part = parts_of({"nccl": FIT}, "a rack", "NCCL 2.27", "2025-11")["h100-sxm"]
    origin = part.origins["nccl"]["node"]
    assert (origin.software, origin.date, origin.data, origin.rows, origin.fitted) == (
        "NCCL 2.27", "2025-11", "a rack", 110, ("a_s",)
    )  # fmt: skip
    assert merged(part, parts_of({"nccl": FIT})["h100-sxm"]).origins == {"nccl": {}}
    assert merged(parts_of({"nccl": FIT})["h100-sxm"], part).origins == part.origins
    other = Fit(curves={("h100", "bf16"): {"b": 1.0}}, mean_error={("h100", "bf16"): 0.1})
    assert merged(part, parts_of({"gemm": other})["h100-sxm"]).origins["nccl"] == part.origins["nccl"]


def test_numbers_that_rows_did_not_decide_are_left_out() -> None:
    fit = Fit({("h100", "x"): {"a": 1.0, "b": 2.0}}, {("h100", "x"): 0.1}, free={("h100", "x"): ("b",)})
    assert parts_of({"nccl": fit}, "", "NCCL", "2025")["h100-sxm"].origins["nccl"]["x"].fitted == ("b",)
