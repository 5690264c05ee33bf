"""Splits whose devices differ in their memory alone: priced as one table, each row as if alone."""

from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device, load_device
from costmodel.hardware.memory.columns import MemoryColumns
from costmodel.pricing import on_devices
from costmodel.pricing.candidates import Candidates, enumerate_candidates
from costmodel.pricing.score import Scores, score, score_whole_and_by_phase
from costmodel.pricing.splits_together import SplitGroup, groups_of
from costmodel.workloads import Workload
from planner.model.instance import Instance
from tests.costmodel.pricing.phases_cases import FABRIC, SERVED
from tests.costmodel.pricing.score_cases import FAT_TREE, fabric_of
from tests.paths import ROOT

H100 = load_device("h100-sxm")
TRAINED = {"kind": "transformer_training", "model": "bert-large", "global_batch": 24, "sequence": 512}
EXPERTS = {"model": "qwen3-30b-a3b", "expert": [1, 2, 4], "zero": [1, 3], "precision": "fp8"}


def listed(fabric: FabricBase, device: Device = H100, **fields: Any) -> Candidates:
    workload = TypeAdapter(Workload).validate_python(fields if "kind" in fields else SERVED | fields)
    return enumerate_candidates(workload, (4, 8), device, fabric)


def each_score(rows: Candidates, device: Device, fabric: FabricBase) -> list[Scores]:
    """Of whole steps, and of both phases of workloads that have them."""
    by_phase = score_whole_and_by_phase(rows, device, fabric) if rows.workload.phases else ()
    return [score(rows, device, fabric), *by_phase]


@pytest.mark.parametrize(
    ("device", "fields"),
    [
        ("h100-sxm", {}),
        ("a100-sxm", {"model": "llama-3.1-8b", "backend": "sglang"}),
        ("h100-sxm", {"precision": "fp8", "batching": "static", "lengths": "varied"}),
        ("h100-sxm", {"model": "llama-3.1-8b", "chunk": 512, "prefix_hit": 0.5}),
        ("h100-sxm", TRAINED),
        ("a100-sxm", TRAINED | {"micro_batch": [1, 2, 4], "recompute": ["none", "full"]}),
        ("h100-sxm", TRAINED | {"model": "gpt3-22b", "sequence": 2048, "interleave": [1, 2]}),
        ("h100-sxm", TRAINED | EXPERTS),
    ],
)
def test_rows_of_all_splits_are_priced_as_those_of_each(
    device: str, fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    part, fabric = load_device(device), fabric_of(FABRIC)
    rows = listed(fabric, part, **fields)
    assert groups_of(rows) == [SplitGroup(tuple(range(len(rows.splits))), is_table=True)]
    assert_priced_as_alone(rows, part, fabric, monkeypatch)


def assert_priced_as_alone(
    rows: Candidates, device: Device, fabric: FabricBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Split by split, and behind caches device by device."""
    together = each_score(rows, device, fabric)
    monkeypatch.setattr(
        on_devices, "groups_of", lambda rows, _: [SplitGroup((n,), False) for n in range(len(rows.splits))]
    )
    alone = each_score(rows, device, fabric)
    for found, expected in zip(together, alone, strict=True):
        for name, column in vars(expected).items():
            np.testing.assert_allclose(getattr(found, name), column, rtol=1e-12, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "job"),
    [
        ("appliance", "gpt175b-train"),
        ("appliance", "llama8b-serve"),
        ("appliance", "dlrm-train"),
        ("appliance", "dlrm-serve"),
        ("appliance_tier", "large-model"),
        ("appliance_tier", "recommender"),
    ],
)
def test_rows_behind_caches_are_priced_as_on_the_device_of_each(
    name: str, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each by the share of its reads that a cache has: of random ones any, so that most rows have a device alone."""
    instance = Instance.load(ROOT / "instances" / "providers" / f"{name}.yaml")
    device, fabric = instance.cluster.device, instance.cluster.fabric
    (asked,) = (each for each in instance.jobs if each.name == job)
    every = enumerate_candidates(asked.workload, asked.sizes, device, fabric)
    groups = groups_of(every)
    assert len(groups) < len(every.splits) / 2
    assert all(group.is_table for group in groups)
    some = np.flatnonzero(every.split % (len(every.splits) // 5) == 0)
    assert_priced_as_alone(every.take(some[:: len(some) // 60 + 1]), device, fabric, monkeypatch)


def test_one_memory_evaluation_and_what_follows_the_memory_are_priced_alone() -> None:
    assert groups_of(listed(fabric_of(FAT_TREE))) == [SplitGroup((0,), is_table=False)]
    pool = fabric_of(FABRIC)
    evaluated = TRAINED | {"evaluation": {"every": 100, "batches": 10}}
    for part, fields in ((H100, evaluated), (load_device("mi300x"), TRAINED)):
        trained = listed(pool, part, **fields)
        assert groups_of(trained) == [SplitGroup((number,), is_table=False) for number in range(len(trained.splits))]


def test_columns_of_memories_are_those_of_the_devices() -> None:
    devices = [split.device for split in listed(fabric_of(FABRIC)).splits]
    columns = MemoryColumns.of_each(devices).take(np.array([2, 0]))
    for number, device in enumerate((devices[2], devices[0])):
        of_one = MemoryColumns.of(device)
        assert {name: column[number] for name, column in vars(columns).items()} == vars(of_one)
