"""Pooling of embeddings."""

from itertools import product
from statistics import fmean

import pytest

from tests.planner.studies.reproduce.experiments.photonic_fabric import outcome


def test_embedding_pooling() -> None:
    found = outcome("dlrm_pooling").quantities
    for network, alpha, bandwidth, mean in (("NVLink", 127 * 2.5e-6, 300e9, 23.0), ("PCIe", 365.125e-6, 50e9, 28.1)):
        gains, bare = [], []
        for tables, batch, pooling in product((1, 2, 4, 8, 16, 32, 64), (128, 1024, 4096), (32, 64)):
            rows = tables * batch * pooling
            appliance = rows * 136 / (0.65 * 26.8e12)
            shard = rows / 128 * 128 / (0.65 * 3350e9) + 127 / 128 * tables * batch * 128 / bandwidth
            gains.append((10.2e-6 + shard + alpha) / (10.2e-6 + appliance))
            bare.append(shard / appliance)
        assert found[f"mean speedup over {network}"] == pytest.approx(fmean(gains))
        assert found[f"mean speedup over {network}, no latency"] == pytest.approx(fmean(bare))
        assert fmean(gains) == pytest.approx(mean, abs=0.05)
        assert len(gains) == 42
