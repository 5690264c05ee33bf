"""Pooling of embeddings."""

from itertools import product
from statistics import fmean

import pytest

from costmodel.hardware.device import load_device
from tests.planner.studies.reproduce.experiments.photonic_fabric import outcome


def test_without_latencies_bytes_decide() -> None:
    """Rows and their numbers, pooled rows and the exchange; the three small products wait for their kernels."""
    memory = load_device("h100-sxm").memory_efficiency
    found = outcome("dlrm_pooling").quantities
    for network, bandwidth in (("NVLink", 300e9), ("PCIe", 50e9)):
        gains = []
        for tables, batch, pooling in product((1, 2, 4, 8, 16, 32, 64), (128, 1024, 4096), (32, 64)):
            rows, pooled = tables * batch * pooling, tables * batch * 128
            shard = rows / 128 * 136 / (0.65 * 3350e9) + 2 * pooled / (memory * 3350e9)
            gains.append(
                (shard + 127 / 128 * pooled / bandwidth) / (rows * 136 / (0.65 * 26.8e12) + pooled / (memory * 26.8e12))
            )
        assert len(gains) == 42
        assert 0.3 * fmean(gains) < found[f"mean speedup over {network}, no latency"] < fmean(gains)


def test_the_steps_of_the_exchange_make_the_gain() -> None:
    rows = {row.quantity: row for row in outcome("dlrm_pooling").rows}
    for network in ("NVLink", "PCIe"):
        row = rows[f"mean speedup over {network}"]
        assert row.verdict == "fitted"
        assert row.beside["without exchange steps"] < 3 < row.beside["by the product's model, servers of the catalog"]
    assert rows["devices"].ours == pytest.approx(128)
