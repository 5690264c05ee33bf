"""What a file may say, and what it is told when it says something else."""

import json
from pathlib import Path

import pytest
import yaml

from planner.model.errors import InputError
from planner.model.instance import Instance, default_sizes
from tests.planner.explain.remedies_cases import FAT_TREE
from tests.planner.model.instance_cases import edited_ring, parse
from tests.planner.small_racks import Fields, rack, serving, single


def test_units_and_percent() -> None:
    data = rack(serving("x", 1, duration="2 h", deadline="1 d"), reconfiguration="3.7 us")
    instance = parse(data | {"objectives": ["moves", {"name": "value", "tolerance": "2 %"}]})
    assert (instance.jobs[0].duration_s, instance.jobs[0].deadline_s) == (7200.0, 86400.0)
    assert [(o.name, o.tolerance) for o in instance.objectives] == [("moves", 0.0), ("value", 0.02)]


def test_defaults() -> None:
    instance = parse(rack(serving("x", 1)))
    assert [o.name for o in instance.objectives] == ["value", "moves", "energy", "fragmentation"]
    assert instance.jobs[0].weight == 1.0
    assert instance.jobs[0].utility == "sqrt"
    assert not instance.jobs[0].required
    assert set(instance.sizes_to_fit) == {size for size in default_sizes() if size <= 8}
    assert sum(instance.sizes_to_fit.values()) == pytest.approx(1.0)


def test_sizes_above_two_servers_are_left_out() -> None:
    data = rack(serving("x", 1)) | {"size_distribution": {1: 1, 8: 3, 9: 100}}
    assert parse(data).sizes_to_fit == {1: 0.25, 8: 0.75}


def test_jobs_by_name() -> None:
    instance = parse(rack(serving("x", 1), residents=[single("r", "s0.t0")]))
    assert [job.name for job in instance.all_jobs] == ["r", "x"]
    assert instance.job("x").name == "x"
    with pytest.raises(InputError, match="there is no job 'z'; jobs are: r, x"):
        instance.job("z")


X = serving("x", 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (rack(X, X), "the name 'x' is used 2 times"),
        (rack(), "there is nothing to plan"),
        (rack(serving("x", [])), "the list is empty"),
        (rack(serving("x", 0)), "must be at least 1"),
        (rack(serving("x", {"min": 3, "max": 2})), "min 3 is above max 2"),
        (rack(serving("x", 9)), "needs at least 9 accelerators, but a rack has 8; ask for fewer"),
        (rack(serving("x", 9), racks=2), "but a rack has 8"),
        (rack(X) | {"objectives": []}, "objectives: the list is empty; give at least one"),
        (rack(X) | {"objectives": ["value", "value"]}, "value is listed twice; list each once"),
        (rack(X) | {"objectives": ["profit"]}, "value"),
        (rack(X) | {"objectives": [{"name": "value", "tolerance": 1.5}]}, "must be at most 1"),
        (rack(X) | {"size_distribution": {}}, "no size fits into two servers"),
        (rack(X) | {"size_distribution": {99: 1}}, "no size fits into two servers"),
        (rack(X) | {"size_distribution": {0: 1}}, "is no size with a frequency"),
        (rack(X) | {"size_distribution": {1: 3, 2: -1}}, "is no size with a frequency"),
        (rack(X) | {"schema_version": 3}, "2"),
        (rack(X) | {"colour": "red"}, "colour: is no known field"),
        (rack(serving("x", 1, weight="heavy")), "number"),
        (rack(serving("x", 1, weight=2e6)), "must be at most 1000000"),
        (rack(serving("x", 1, step_at=0)), "must be above 0"),
        (rack(serving("x", 1, utility="log")), "sqrt"),
        (rack(serving("x", 1, duration="2 parsec")), "unknown unit 'parsec'"),
        (rack(X, health={"failed_tiles": ["s9.t0"]}), "health.failed_tiles: no server 's9'"),
        (rack(X, health={"failed_ports": ["s0.t9"]}), "health.failed_ports: no accelerator"),
        (rack(X, health={"failed_fibers": [{"from": "s0", "to": "s1", "index": 0}]}), "has 0 fibers"),
        (rack(X, health={"failed_fibers": [{"from": "s0", "to": "s7", "index": 0}]}), "no server 's7'"),
    ],
)  # fmt: skip
def test_bad_instances(data: Fields, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(data)


def test_the_whole_fat_tree_is_the_limit_where_racks_are_linked() -> None:
    data = rack(serving("x", 16))
    data["cluster"]["fabric"] = FAT_TREE | {"racks": 2}
    parse(data)
    data["jobs"] = [serving("x", 17)]
    with pytest.raises(InputError, match="the cluster has 16"):
        parse(data)


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_files_there_and_back(tmp_path: Path, suffix: str) -> None:
    data = rack(serving("x", [1, 2]), residents=[edited_ring()], fibers=1)
    path = tmp_path / f"instance.{suffix}"
    path.write_text(json.dumps(data) if suffix == "json" else yaml.safe_dump(data), encoding="utf-8")
    instance = Instance.load(path)
    assert instance == parse(data)
    assert parse(json.loads(instance.model_dump_json(by_alias=True))) == instance
