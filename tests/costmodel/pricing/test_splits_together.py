"""Splits whose devices differ in their memory alone: priced as one table, each row as if alone."""

from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device, load_device
from costmodel.hardware.memory.columns import MemoryColumns
from costmodel.pricing import score as scoring
from costmodel.pricing.candidates import Candidates, enumerate_candidates
from costmodel.pricing.score import score, score_whole_and_by_phase
from costmodel.pricing.splits_together import groups_of
from costmodel.workloads import Workload
from tests.costmodel.pricing.phases_cases import FABRIC, SERVED
from tests.costmodel.pricing.score_cases import FAT_TREE, fabric_of

H100 = load_device("h100-sxm")
TRAINED = {"kind": "transformer_training", "model": "bert-large", "global_batch": 24, "sequence": 512}


def listed(fabric: FabricBase, device: Device = H100, **fields: Any) -> Candidates:
    workload = TypeAdapter(Workload).validate_python(SERVED | fields)
    return enumerate_candidates(workload, (4, 8), device, fabric)


@pytest.mark.parametrize(
    ("device", "fields"),
    [
        ("h100-sxm", {}),
        ("a100-sxm", {"model": "llama-3.1-8b", "backend": "sglang"}),
        ("h100-sxm", {"precision": "fp8", "batching": "static", "lengths": "varied"}),
        ("h100-sxm", {"model": "llama-3.1-8b", "chunk": 512, "prefix_hit": 0.5}),
    ],
)
def test_rows_of_all_splits_are_priced_as_those_of_each(
    device: str, fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    part, fabric = load_device(device), fabric_of(FABRIC)
    rows = listed(fabric, part, **fields)
    assert [len(group) for group in groups_of(rows)] == [len(rows.splits)]
    together = [score(rows, part, fabric), *score_whole_and_by_phase(rows, part, fabric)]
    monkeypatch.setattr(scoring, "groups_of", lambda rows: [(number,) for number in range(len(rows.splits))])
    alone = [score(rows, part, fabric), *score_whole_and_by_phase(rows, part, fabric)]
    for found, expected in zip(together, alone, strict=True):
        for name, column in vars(expected).items():
            np.testing.assert_allclose(getattr(found, name), column, rtol=1e-12, err_msg=name)


def test_one_memory_training_and_rules_of_kernels_are_priced_alone() -> None:
    assert groups_of(listed(fabric_of(FAT_TREE))) == [(0,)]
    pool = fabric_of(FABRIC)
    trained = enumerate_candidates(TypeAdapter(Workload).validate_python(TRAINED), (4,), H100, pool)
    assert groups_of(trained) == [(number,) for number in range(len(trained.splits))]


def test_columns_of_memories_are_those_of_the_devices() -> None:
    devices = [split.device for split in listed(fabric_of(FABRIC)).splits]
    columns = MemoryColumns.of_each(devices).take(np.array([2, 0]))
    for number, device in enumerate((devices[2], devices[0])):
        of_one = MemoryColumns.of(device)
        assert {name: column[number] for name, column in vars(columns).items()} == vars(of_one)
