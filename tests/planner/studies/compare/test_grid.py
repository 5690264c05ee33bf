"""Grids name their fields, and refuse a wrong field or value before anything is solved."""

import json
from pathlib import Path

import pytest

from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.studies.compare.grid import parse_axis, require_few, variants
from tests.planner.cli.conftest import fields, written


def test_values_are_those_of_yaml() -> None:
    axis = parse_axis("jobs[big].accelerators=4,[1, 2],{min: 1, max: 4},7 us")
    assert axis.values == (4, [1, 2], {"min": 1, "max": 4}, "7 us")
    assert axis.steps == ("jobs", "[big]", "accelerators")
    assert parse_axis(" cluster.fabric.waveguides = shared ").values == ("shared",)


def test_every_combination_is_a_valid_instance(tmp_path: Path) -> None:
    path = written(tmp_path, fields())
    axes = [parse_axis("cluster.fabric.reconfiguration=1us,1 ms"), parse_axis("jobs[small].weight=1,5")]
    found = variants(path, axes)
    assert [list(variant.parameters.values()) for variant in found] == [
        ["1us", 1],
        ["1us", 5],
        ["1 ms", 1],
        ["1 ms", 5],
    ]
    last = found[-1].instance
    assert (last.cluster.fabric.reconfiguration_s, last.job("small").weight, last.job("big").weight) == (1e-3, 5, 3)
    assert json.loads(path.read_text("utf-8")) == fields()
    assert variants(path, [])[0].instance == Instance.load(path)


def test_fields_that_the_file_leaves_out_can_vary(tmp_path: Path) -> None:
    path = written(tmp_path, fields())
    axes = [parse_axis("cluster.fabric.transit=0,1"), parse_axis("cluster.health.failed_tiles=[s0.t1]")]
    instances = [variant.instance for variant in variants(path, axes)]
    assert [instance.cluster.fabric.model_dump()["transit"] for instance in instances] == [0, 1]
    assert {instance.cluster.num_healthy for instance in instances} == {3}
    assert variants(path, [parse_axis("jobs[1].tenant=research")])[0].instance.job("small").tenant == "research"


@pytest.mark.parametrize(
    ("grid", "told"),
    [
        (
            "cluster.fabric.fibers_per_pair=1,2",
            "there is no field 'fibers_per_pair'; nearest are fibers, ",
        ),
        ("cluster.fabrics.fibers=1", "there is no field 'fabrics'; nearest are fabric, "),
        ("jobs[bigg].weight=1", r"there is no item 'bigg'; nearest are big, small"),
        ("jobs[7].weight=1", "there is no item '7'; nearest are "),
        ("jobs.weight=1", "'weight' is a field of what the file gives as "),
        ("cluster[0].fabric=1", r"what '\[0\]' is an item of is no list"),
        (
            "cluster.device.capacity=80 GB",
            "'capacity' is a field of what the file gives as 'h100-sxm'; write its fields",
        ),
        ("cluster.fabric.fibers=1,-1", r"tiny.json with cluster.fabric.fibers=-1: cluster.fabric.fibers"),
        ("cluster.fabric.alpha=1 parsec", "with cluster.fabric.alpha=1 parsec: cluster.fabric.alpha: unknown unit"),
    ],
)
def test_wrong_fields_and_values_are_told_with_the_nearest(tmp_path: Path, grid: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        variants(written(tmp_path, fields()), [parse_axis(grid)])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cluster.fabric.fibers", "is no field with values"),
        ("=1", "is no field with values"),
        ("jobs[.weight=1", "is no field with values"),
        ("fibers=", "has no value"),
        ("fibers=[1,", "part values by commas"),
        ("fibers=010,2", "read as octal"),
    ],
)
def test_what_is_no_axis_is_refused(text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        parse_axis(text)


def test_grids_have_an_end() -> None:
    many = ",".join(map(str, range(200)))
    with pytest.raises(InputError, match="makes 40,000 variants of each instance; the most are 10,000"):
        require_few([parse_axis(f"a={many}"), parse_axis(f"b={many}")])
    with pytest.raises(InputError, match="a: is given twice"):
        require_few([parse_axis("a=1"), parse_axis("a=2")])
