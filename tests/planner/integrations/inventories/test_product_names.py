"""Names of accelerators that drivers, clouds and schedulers use."""

import pytest

from planner.integrations.inventories.product_names import device_of


@pytest.mark.parametrize(
    ("product", "device"),
    [
        ("NVIDIA-H100-80GB-HBM3", "h100-sxm"), ("h100", "h100-sxm"), ("nvidia_h100_80gb_hbm3", "h100-sxm"),
        ("NVIDIA-A100-SXM4-80GB", "a100-sxm"), ("NVIDIA-GB200", "gb200"), ("NVIDIA-B200", "b200-sxm"),
        ("nvidia-h200-141gb", "h200-sxm"), ("AMD_Instinct_MI300X_OAM", "mi300x"), ("tpu7x", "tpu-v7"),
        ("tpu-v5p-slice", "tpu-v5p"), ("h100-sxm", "h100-sxm"),
        ("nvidia-h100-mega-80gb", "h100-sxm"), ("nvidia-a100-80gb", "a100-sxm"), ("nvidia-tesla-a100", None),
        ("NVIDIA-A100-SXM4-40GB", None), ("NVIDIA-H100-PCIe", None), ("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", None),
        ("NVIDIA-H100-80GB-HBM3-SHARED", None), ("Tesla-T4", None), ("", None),
    ],
)  # fmt: skip
def test_a_name_is_a_device_of_the_catalog_or_none(product: str, device: str | None) -> None:
    assert device_of(product) == device
