"""Files of both versions are read alike; what version 1 took for absent fields is known."""

import json
from typing import Any

from planner.candidates.expand import expand
from planner.model.instance import Instance
from planner.model.schema_versions import Unsaid, unsaid, upgraded
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


def test_both_versions_are_read_alike() -> None:
    given = _file(1, TRAIN, SERVE)
    before = json.dumps(given)
    assert Instance.parse(given) == Instance.parse(_file(2, TRAIN, SERVE))
    assert json.dumps(given) == before


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


def test_a_new_file_is_the_same_object() -> None:
    data = _file(2, TRAIN)
    assert upgraded(data) is data


def test_the_planner_chooses_of_less_with_old_defaults() -> None:
    """Of 16 accelerators, experts among 1, 2, 4 or 8 replicas and context groups are listed only where they may be."""
    old = expand(Instance.parse(_file(2, TRAIN | THEN))).options[0]
    assert old.num_listed < expand(Instance.parse(_file(1, TRAIN))).options[0].num_listed
