"""What a file may say, and what it is told when it says something else."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.model.errors import InputError
from planner.model.instance import Instance, default_sizes
from planner.model.job import Range
from tests.planner.cpsat.step1.test_constraints import ring_resident
from tests.planner.explain.test_explain import FAT_TREE, Fields, rack, serving, single


def parse(data: Fields) -> Instance:
    return Instance.parse(data, "file")


@pytest.mark.parametrize(
    ("accelerators", "sizes"),
    [(3, (3,)), ([4, 2, 2], (2, 4)), ({"min": 2, "max": 4}, (2, 3, 4)), ({"min": 1, "max": 1}, (1,))],
)
def test_sizes(accelerators: Any, sizes: tuple[int, ...]) -> None:
    assert parse(rack(serving("x", accelerators))).jobs[0].sizes == sizes


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


def test_error_names_file_field_and_problem() -> None:
    with pytest.raises(InputError) as caught:
        parse(rack(serving("x", 1, weight=-1)))
    assert caught.value.where == "file"
    assert "weight" in caught.value.field
    assert "must be above 0" in caught.value.problem
    assert str(caught.value) == f"file: {caught.value.field}: {caught.value.problem}"
    assert str(InputError("file", "", "is empty")) == "file: is empty"


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
        (rack(X) | {"schema_version": 2}, "1"),
        (rack(X) | {"colour": "red"}, "colour: is no known field"),
        (rack(serving("x", 1, weight="heavy")), "number"),
        (rack(serving("x", 1, weight=2e6)), "must be at most 1000000"),
        (rack(serving("x", 1, step_at=0)), "must be above 0"),
        (rack(serving("x", 1, utility="log")), "sqrt"),
        (rack(serving("x", 1, duration="2 parsec")), "unknown unit 'parsec'"),
        (rack(X, health={"failed_tiles": ["s9.t0"]}), "health.failed_tiles: no server 's9'"),
        (rack(X, health={"failed_ports": ["s0.t9"]}), "health.failed_ports: no device"),
        (rack(X, health={"failed_fibers": [{"from": "s0", "to": "s1", "index": 0}]}), "has 0 fibers"),
        (rack(X, health={"failed_fibers": [{"from": "s0", "to": "s7", "index": 0}]}), "no server 's7'"),
    ],
)  # fmt: skip
def test_bad_instances(data: Fields, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(data)


def test_a_range_may_reach_beyond_the_rack() -> None:
    assert parse(rack(serving("x", {"min": 8, "max": 20}))).jobs[0].sizes[-1] == 20
    assert Range(min=2, max=2).max == 2


def test_the_whole_fat_tree_is_the_limit_where_racks_are_linked() -> None:
    data = rack(serving("x", 16))
    data["cluster"]["fabric"] = FAT_TREE | {"racks": 2}
    parse(data)
    data["jobs"] = [serving("x", 17)]
    with pytest.raises(InputError, match="the cluster has 16"):
        parse(data)


def edited_ring(**changes: Any) -> Fields:
    """The ring resident, its first circuit changed."""
    resident = ring_resident()
    circuits = resident["circuits"][0]["circuits"]
    resident["circuits"] = [{"dimension": "tensor", "circuits": [circuits[0] | changes, circuits[1]]}]
    return resident


def test_good_resident() -> None:
    instance = parse(rack(residents=[edited_ring()], fibers=1))
    assert instance.residents[0].movable
    assert instance.residents[0].move_cost == 1.0


@pytest.mark.parametrize(
    ("residents", "message"),
    [
        ([single("r", "s0.t0"), single("q", "s0.t0")], "s0.t0 already belongs to r"),
        ([single("r", "s0.t9")], r"residents\[r\].devices: no device 's0.t9'"),
        ([single("r", "s0.t0") | {"devices": ["s0.t0", "s0.t1"]}], "2 devices for the 1 ranks"),
        ([edited_ring(**{"from": "s0.t1"})], "s0.t1 is none of its devices"),
        ([edited_ring(wavelengths=[3, 4])], "wavelengths are 0 to 3"),
        ([edited_ring(wavelengths=[-1, 0])], "wavelengths are 0 to 3"),
        ([edited_ring(wavelengths=[])], "must have 1 or more entries"),
        ([edited_ring(fibers=[])], "takes (1|one) fiber such as s0>s1#0"),
        ([edited_ring(fibers=["s1>s0#0"])], "takes (1|one) fiber"),
        ([edited_ring(fibers=["s0>s1#1"])], "takes (1|one) fiber"),
        (
            [edited_ring(), edited_ring() | {"name": "q", "devices": ["s0.t1", "s1.t1"]}],
            "is none of its devices|already uses wavelength",
        ),
    ],
)  # fmt: skip
def test_residents_that_cannot_be_running(residents: list[Fields], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(rack(residents=residents, fibers=1))


@pytest.mark.parametrize(
    "health",
    [
        {"failed_tiles": ["s0.t0"]},
        {"failed_ports": ["s1.t0"]},
        {"failed_fibers": [{"from": "s0", "to": "s1", "index": 0}]},
    ],
)
def test_immovable_resident_on_a_failed_part(health: Fields) -> None:
    parse(rack(residents=[ring_resident()], fibers=1, health=health))
    with pytest.raises(InputError, match=r"is on failed part .* and may not move"):
        parse(rack(residents=[ring_resident(movable=False)], fibers=1, health=health))


def test_single_device_resident_needs_no_port() -> None:
    parse(rack(residents=[single("r", "s0.t0", movable=False)], health={"failed_ports": ["s0.t0"]}))


@pytest.mark.parametrize("changes", [{"circuits": []}, {"wavelengths_per_fiber": 1}])
def test_resident_that_breaks_a_rule_while_it_runs(changes: Fields) -> None:
    resident = ring_resident(movable=False) | {k: v for k, v in changes.items() if k == "circuits"}
    fabric = {k: v for k, v in changes.items() if k != "circuits"}
    with pytest.raises(InputError):
        parse(rack(residents=[resident], fibers=1, **fabric))


def test_circuits_need_a_fabric_that_has_them() -> None:
    data = rack(residents=[ring_resident() | {"devices": ["s0.g0", "s1.g0"]}])
    data["cluster"]["fabric"] = FAT_TREE
    with pytest.raises(InputError, match="a fat_tree has no circuits; remove them"):
        parse(data)


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_files_there_and_back(tmp_path: Path, suffix: str) -> None:
    data = rack(serving("x", [1, 2]), residents=[edited_ring()], fibers=1)
    path = tmp_path / f"instance.{suffix}"
    path.write_text(json.dumps(data) if suffix == "json" else yaml.safe_dump(data), encoding="utf-8")
    instance = Instance.load(path)
    assert instance == parse(data)
    assert parse(json.loads(instance.model_dump_json(by_alias=True))) == instance


def test_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        Instance.load(tmp_path / "none.yaml")
