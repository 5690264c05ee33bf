"""What `validate` judges is what `score` and `solve` price: one step from a table's row and from an instance file."""

import json
from pathlib import Path
from typing import Any

import pytest

from costmodel.calibrate.training_rows import Row
from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import load_device
from costmodel.hardware.systems import system_of
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from planner.cli import main
from planner.model.instance import Instance
from tests.costmodel.calibrate.training_cases import row_of

CASES: list[dict[str, Any]] = [
    {"device": "h100", "tp": 4, "pp": 2, "dp": 2, "devices": 16, "precision": "fp8", "tp_overlap": "True"},
    {"device": "b200", "tp": 2, "pp": 1, "dp": 4, "devices": 8},
    {"device": "gb200", "tp": 4, "pp": 1, "dp": 4, "devices": 16, "precision": "fp4", "cuda_graphs": "per_layer"},
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore::planner.model.errors.UnitWarning")
def test_the_same_step_from_a_row_and_from_an_instance(
    case: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = row_of(**case, micro_batches=4)
    predicted_s = row.predict(None)[0]
    path = instance_of(row, int(case["devices"]), tmp_path)
    instance = Instance.load(path)
    cluster, job = instance.cluster, instance.job("x")
    device = load_device(row.device.name)
    listed = enumerate_candidates(job.workload, (case["devices"],), device, cluster.fabric)
    scores = score(listed, device, cluster.fabric)
    m, of = listed.mappings, listed.mapping
    is_same = (m.tensor[of] == case["tp"]) & (m.pipeline[of] == case["pp"]) & (m.data[of] == case["dp"])
    assert scores.step_s[is_same].min() == pytest.approx(predicted_s, rel=1e-12)
    assert main(["solve", str(path), "--json", "--time-limit", "5"]) == 0
    (placed,) = json.loads(capsys.readouterr().out)["plan"]["assignments"]
    assert placed["step"] == pytest.approx(scores.step_s.min(), rel=1e-9)


def instance_of(row: Row, devices: int, folder: Path) -> Path:
    """One job on the servers that the catalog has of the device."""
    workload = row.workload.model_dump(mode="json", exclude_defaults=True) | {"kind": "transformer_training"}
    fabric = fat_tree_of(system_of(row.device.name), devices).model_dump(mode="json", by_alias=True)
    job = {"name": "x", "workload": workload, "accelerators": devices}
    content = {
        "schema_version": 2, "name": "one", "cluster": {"device": row.device.name, "fabric": fabric}, "jobs": [job]
    }  # fmt: skip
    path = folder / "one.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path
