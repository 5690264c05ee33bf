"""Rows stand once each on what they run on, whatever the chunks."""

from typing import Any

import numpy as np
import pytest

from costmodel.fabrics import FabricBase
from costmodel.pricing import on_devices as module
from costmodel.pricing.on_devices import on_devices
from tests.costmodel.pricing.phases_cases import FABRIC
from tests.costmodel.pricing.score_cases import DEVICE, FAT_TREE, WORKLOADS, candidates_of, fabric_of


def numbers(fabric: FabricBase, workload: dict[str, Any]) -> list[list[int]]:
    """Of the rows of each part; what the part has is what these rows are."""
    candidates, found = candidates_of(workload, fabric, 2, 4), []
    splits = fabric.splits(DEVICE, candidates.workload)
    for part in on_devices(candidates, splits, None):
        rows = np.arange(len(candidates))[part.rows]
        own, capacity = part.candidates, np.broadcast_to(part.own.memory.capacity_bytes, rows.shape)
        assert own.num_devices.tolist() == candidates.num_devices[rows].tolist()
        assert own.split.tolist() == candidates.split[rows].tolist()
        assert len(part.graph) == len(own.mappings) == own.mapping.max() + 1
        assert capacity.tolist() == [splits[split].device.capacity_bytes for split in own.split]
        found.append(rows.tolist())
    return found


@pytest.mark.parametrize("workload", ["training", "serving"])
def test_each_row_stands_once(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One part for a fabric with one split, and for splits that are one table; more where a chunk is full."""
    for fabric in (fabric_of(FAT_TREE), fabric_of(FABRIC)):
        monkeypatch.setattr(module, "CHUNK", 1 << 16)
        (whole,) = numbers(fabric, WORKLOADS[workload])
        assert whole == list(range(len(whole)))
        monkeypatch.setattr(module, "CHUNK", 7)
        parts = numbers(fabric, WORKLOADS[workload])
        assert len(parts) == -(-len(whole) // 7)
        assert sorted(row for part in parts for row in part) == whole
