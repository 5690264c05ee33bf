"""Files of version 1 mean what they meant; only what they leave out is filled."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner.candidates.expand import expand
from planner.model.instance import Instance
from planner.model.schema_versions import OldSchemaWarning, Unsaid, unsaid, upgraded
from planner.studies.compare.grid import parse_axis, variants
from tests.planner.simulate.grounds import FABRICS

TRAIN = {"kind": "transformer_training", "model": "mixtral-8x7b", "global_batch": 64, "sequence": 2048}
SERVE = {"kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": 8, "input_tokens": 512,
         "output_tokens": 64}  # fmt: skip
THEN = {"expert": 1, "context": 1, "uneven_stages": False, "overlap": {"context": 0.7}}
"""defaults of photonplan 0.1, as its schema had them"""


def _file(version: int, *workloads: dict[str, Any]) -> dict[str, Any]:
    fabric = FABRICS["fat_tree"]
    jobs = [{"name": f"j{i}", "workload": each, "accelerators": 16} for i, each in enumerate(workloads)]
    return {"schema_version": version, "name": "f", "cluster": {"device": "h100-sxm", "fabric": fabric}, "jobs": jobs}


def test_a_file_of_version_1_has_the_defaults_of_then() -> None:
    given = _file(1, TRAIN, SERVE)
    before = json.dumps(given)
    with pytest.warns(OldSchemaWarning, match="`planner migrate old.yaml` makes it 2"):
        read = Instance.parse(given, "old.yaml")
    assert json.dumps(given) == before
    train, serve = (job.workload for job in read.jobs)
    assert {name: getattr(train, name) for name in THEN} == THEN
    assert (serve.expert, serve.kv_precision) == (1, "bf16")
    assert read == Instance.parse(_file(2, TRAIN | THEN, SERVE | {"expert": 1, "kv_precision": "bf16"}))


def test_what_a_file_says_is_kept() -> None:
    said = TRAIN | {"expert": [1, 8], "overlap": {"data": 0.5}}
    assert unsaid(_file(1, said)) == [
        Unsaid(("jobs", 0, "workload", "context"), 1), Unsaid(("jobs", 0, "workload", "uneven_stages"), False),
    ]  # fmt: skip


def test_appliances_and_residents_have_old_defaults_too() -> None:
    data = {"cluster": {"fabric": {"memory": {"kind": "appliances", "hit": 0.5}}}, "residents": [{"workload": SERVE}]}
    assert dict(unsaid(data)) == {
        ("cluster", "fabric", "memory", "link_energy"): 0.0,
        ("residents", 0, "workload", "expert"): 1,
        ("residents", 0, "workload", "kv_precision"): "bf16",
    }


def test_a_new_file_is_the_same_object(recwarn: pytest.WarningsRecorder) -> None:
    data = _file(2, TRAIN)
    assert upgraded(data, "new.yaml") is data
    assert not recwarn.list


def test_the_planner_chooses_of_less_for_an_old_file() -> None:
    """Of 16 accelerators, experts among 1, 2, 4 or 8 replicas and context groups are listed only where they may be."""
    with pytest.warns(OldSchemaWarning):
        old = expand(Instance.parse(_file(1, TRAIN))).options[0]
    new = expand(Instance.parse(_file(2, TRAIN))).options[0]
    pinned = expand(Instance.parse(_file(2, TRAIN | THEN))).options[0]
    assert pinned.num_listed == old.num_listed < new.num_listed


def test_rows_of_a_table_have_old_defaults_too(tmp_path: Path) -> None:
    rows = "name,kind,model,accelerators,global_batch,sequence,concurrency,input_tokens,output_tokens\n" + (
        "a,training,llama-3.1-8b,16,64,2048,,,\nb,inference,llama-3.1-8b,8,,,8,512,64\n"
    )
    (tmp_path / "jobs.csv").write_text(rows)
    path = tmp_path / "old.json"
    path.write_text(json.dumps(_file(1) | {"jobs": "jobs.csv"}))
    with pytest.warns(OldSchemaWarning):
        train, serve = (job.workload for job in Instance.load(path).jobs)
    assert {name: getattr(train, name) for name in THEN} == THEN
    assert serve.kv_precision == "bf16"
    with pytest.warns(OldSchemaWarning):
        found = variants(path, [parse_axis("jobs[a].weight=1,2")])
    assert [variant.instance.jobs[0].workload for variant in found] == [train, train]
