"""Changes of single fields of a text: what was meant, and nothing else."""

import json

import pytest
import yaml

from planner.model.errors import InputError
from planner.studio.text_edits import block_of, in_one_line, read_value, with_block, with_item, with_value, without
from tests.paths import ROOT

TEXT = """# head
name: rack          # of two
cluster:
  fabric:
    fibers: 4       # for each pair
    alpha: 0.7 us
jobs:
  # the first
  - name: chat      # serves
    workload:
      limits:
        ttft: 1 s
    accelerators: [4, 8]
  - {name: small, weight: 2}
  - name: last
    note: |
      two
      lines
# tail
objectives: [value]
"""


FIBERS = "    fibers: 4       # for each pair"


def _lines_changed(before: str, after: str) -> tuple[set[str], set[str]]:
    return {*before.split("\n")} - {*after.split("\n")}, {*after.split("\n")} - {*before.split("\n")}


@pytest.mark.parametrize(
    ("path", "value", "gone", "new"),
    [
        (("cluster", "fabric", "fibers"), 8, FIBERS, FIBERS.replace("4", "8")),
        (("cluster", "fabric", "energy"), "5 pJ/b", None, "    energy: 5 pJ/b"),
        (("cluster", "health", "failed_tiles"), ["s0.t1"], None, "  health: {failed_tiles: [s0.t1]}"),
        (("jobs", 0, "weight"), 3, None, "    weight: 3"),
        (("jobs", 0, "accelerators"), {"min": 1}, "    accelerators: [4, 8]", "    accelerators: {min: 1}"),
        (("jobs", 1, "weight"), 3, "  - {name: small, weight: 2}", "  - {name: small, weight: 3}"),
        (("jobs", 1, "required"), True, "  - {name: small, weight: 2}", "  - {name: small, weight: 2, required: true}"),
        (("jobs", 2, "weight"), 3, None, "    weight: 3"),
        (("description",), "yes: 1", None, "description: 'yes: 1'"),
    ],
)  # fmt: skip
def test_a_value_changes_its_line_alone(path: tuple[str | int, ...], value: object, gone: str | None, new: str) -> None:
    assert _lines_changed(TEXT, with_value(TEXT, path, value)) == ({gone} if gone else set(), {new})


@pytest.mark.parametrize(
    ("path", "gone"),
    [
        (("cluster", "fabric", "fibers"), {"    fibers: 4       # for each pair"}),
        (("jobs", 2), {"  - name: last", "    note: |", "      two", "      lines"}),
        (("jobs", 1), {"  - {name: small, weight: 2}"}),
        (("cluster", "absent"), set()),
        (("nowhere", "absent"), set()),
    ],
)
def test_what_is_removed_takes_its_lines_along(path: tuple[str | int, ...], gone: set[str]) -> None:
    assert _lines_changed(TEXT, without(TEXT, path)) == (gone, set())


def test_removing_the_first_key_of_an_item_keeps_its_dash() -> None:
    assert without("- a: 1\n  b: 2\n", (0, "a")) == "- b: 2\n"
    assert without("x: {a: 1, b: 2}\n", ("x", "a")) == "x: {b: 2}\n"
    assert without("x: {a: 1, b: 2}\n", ("x", "b")) == "x: {a: 1}\n"
    assert yaml.safe_load(without("x:\n  a: 1\n", ("x", "a"))) == {"x": {}}


def test_a_job_is_written_as_its_own_lines_and_back() -> None:
    block = block_of(TEXT, ("jobs", 0))
    assert block.startswith("name: chat      # serves\nworkload:\n  limits:\n")
    assert with_block(TEXT, ("jobs", 0), block) == TEXT
    changed = with_block(TEXT, ("jobs", 0), "name: other\nworkload:\n  a: 1\n")
    assert "  - name: other\n    workload:\n      a: 1\n  - {name: small" in changed
    more = with_item(TEXT, ("jobs",), "name: new\nweight: 1   # little\n")
    assert "      lines\n  - name: new\n    weight: 1   # little\n# tail" in more
    assert with_block(TEXT, ("jobs", 1), "a: 1\n").count("  - a: 1\n") == 1
    assert yaml.safe_load(with_item("jobs: []\n", ("jobs",), "name: x")) == {"jobs": [{"name": "x"}]}
    assert yaml.safe_load(with_item("a: 1\n", ("jobs",), "name: x")) == {"a": 1, "jobs": [{"name": "x"}]}


def test_json_stays_json() -> None:
    text = '{"a": {"b": [1, 2]}, "jobs": [{"name": "é"}]}'
    assert json.loads(with_value(text, ("a", "c"), {"d": "x"}))["a"] == {"b": [1, 2], "c": {"d": "x"}}
    assert json.loads(with_value(text, ("e", "f"), True))["e"] == {"f": True}
    assert json.loads(without(text, ("a", "b", 0)))["a"] == {"b": [2]}
    assert json.loads(with_item(text, ("jobs",), "name: y"))["jobs"] == [{"name": "é"}, {"name": "y"}]
    assert json.loads(with_block(text, ("jobs", 0), "name: y\nweight: 2"))["jobs"] == [{"name": "y", "weight": 2}]
    assert block_of(text, ("jobs", 0)) == "name: é\n"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a: &x {n: 1}\nb: *x\n", ("b", "n")),
        ("a: &x {n: 1}\nb: [*x]\n", ("b", 0, "n")),
        ("a: &x\n  n: 1\nb:\n  <<: *x\n", ("b", "n")),
    ],
)
def test_what_is_written_by_reference_is_left_to_the_text(text: str, path: tuple[str | int, ...]) -> None:
    with pytest.raises(InputError, match="change it in the text"):
        with_value(text, path, 2)


def test_a_place_that_is_none_is_told() -> None:
    for path in (("jobs", 7, "weight"), ("name", "of"), ("jobs", "chat")):
        with pytest.raises(InputError, match="change it in the text"):
            with_value(TEXT, path, 1)
    with pytest.raises(InputError, match="line 2: is no valid YAML"):
        with_item(TEXT, ("jobs",), "name: [")
    with pytest.raises(InputError, match="twice"):
        read_value("{a: 1, a: 2}", "value")


def test_values_in_one_line_are_read_back() -> None:
    for value in (3, 0.5, "18.75 GB/s", "yes", "1:30", True, [4, 8], {"min": 4, "max": 16}, "a: b", ""):
        assert read_value(in_one_line(value), "value") == value
        assert "\n" not in in_one_line(value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["serving/rack16", "joint/rack48", "lumorph/rack64_degraded"])
def test_jobs_of_shipped_files_go_out_and_in(name: str) -> None:
    text = (ROOT / "instances" / f"{name}.yaml").read_text("utf-8")
    data = yaml.safe_load(text)
    number = len(data["jobs"]) - 1
    assert with_block(text, ("jobs", number), block_of(text, ("jobs", number))) == text
    assert yaml.safe_load(without(text, ("jobs", number)))["jobs"] == data["jobs"][:-1]
    assert yaml.safe_load(with_value(text, ("jobs", 0, "weight"), 7))["jobs"][0]["weight"] == 7
