"""Remembered products against the loops of the oracle, and what two devices have in common."""

from typing import Any

import numpy as np
import pytest

import costmodel.pricing.products as products
from costmodel.hardware.device import Precision, load_device
from costmodel.kernels.gemm import GemmCurve, gemm_curve, gemm_s
from costmodel.pricing.products import Products, products_of
from tests.oracles import gemm as oracle

H100 = load_device("h100-sxm")
SIZES = np.array([(1, 4096, 4096), (512, 1024, 64), (1, 4096, 4096), (4096, 8192, 1024), (64, 64, 64)]).T


def fresh(share: float, precision: Precision = "bf16") -> tuple[Products, GemmCurve]:
    fused = gemm_curve(H100, precision)[0].with_fused_quantization()
    curve = fused.model_copy(update={"matrix_efficiency": share})
    return Products(H100, precision, curve), curve


@pytest.mark.parametrize("precision", ["bf16", "fp8"])
def test_times_are_those_of_the_oracle_at_the_share_of_training(precision: Precision) -> None:
    _, curve = fresh(0.5, precision)
    expected = [oracle.gemm_s(m, n, k, H100, precision, curve) for m, n, k in SIZES.T.tolist()]
    for _ in range(2):
        found = products_of(H100, precision, 0.5, None).seconds(*SIZES)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_sizes_broadcast() -> None:
    m, k = np.array([[1.0], [64.0]]), np.array([128.0, 256.0, 512.0])
    found = fresh(0.6)[0].seconds(m, 512.0, k)
    assert found.shape == (2, 3)
    for (row, column), seconds in np.ndenumerate(found):
        assert seconds == fresh(0.6)[0].seconds(m[row, 0], 512.0, k[column])


def test_each_product_is_priced_once_and_all_again_when_too_many_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[float, ...]] = []

    def counted(m: Any, n: Any, k: Any, *of: Any) -> Any:
        asked.extend(zip(m.tolist(), n.tolist(), k.tolist(), strict=True))
        return gemm_s(m, n, k, *of)

    monkeypatch.setattr(products, "gemm_s", counted)
    known, _ = fresh(0.5)
    first = known.seconds(*SIZES)
    assert len(asked) == 4
    np.testing.assert_array_equal(known.seconds(*SIZES[:, ::-1]), first[::-1])
    assert len(asked) == 4
    monkeypatch.setattr(products, "MOST", 3)
    np.testing.assert_array_equal(known.seconds(*np.c_[SIZES, [8, 8, 8]])[:-1], first)
    assert len(asked) == 4 + 5


def test_a_larger_share_is_never_slower_and_a_small_product_hardly_notices() -> None:
    slow, quick = (products_of(H100, "bf16", share, None).seconds(*SIZES) for share in (0.4, 0.8))
    assert np.all(quick <= slow)
    assert slow[3] / quick[3] > 1.3
    assert slow[0] / quick[0] < 1.05


def test_devices_share_what_their_products_do_not_depend_on() -> None:
    """Memory and links are no part of a product; processors, peaks and the cache are."""
    same = H100.model_copy(update={"capacity_bytes": 1e12, "link_bytes_per_s": 1.0, "idle_w": 5.0})
    assert products_of(same, "bf16", 0.5, None) is products_of(H100, "bf16", 0.5, None)
    for changed in ({"num_sm": 66}, {"memory_bytes_per_s": 1e12}, {"l2_bytes": 1e6}, {"flops_per_s": {"bf16": 5e14}}):
        other = products_of(H100.model_copy(update=changed), "bf16", 0.5, None)
        assert other is not products_of(H100, "bf16", 0.5, None)
    assert products_of(H100, "bf16", 0.6, None) is not products_of(H100, "bf16", 0.5, None)
    with pytest.raises(ValueError, match="does not run fp8"):
        products_of(load_device("a100-sxm"), "fp8", 0.5, None).seconds(1, 1, 1)
