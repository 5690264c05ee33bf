"""Errors of files name the file, the field and the problem."""

from pathlib import Path

import pytest

from planner.model.errors import InputError
from planner.model.files import parse_text
from planner.model.instance import Instance
from tests.planner.explain.remedies_cases import FAT_TREE
from tests.planner.fabrics.lightpath.constraints_cases import ring_resident
from tests.planner.model.instance_cases import parse
from tests.planner.small_racks import rack, serving


def test_error_names_file_field_and_problem() -> None:
    with pytest.raises(InputError) as caught:
        parse(rack(serving("x", 1, weight=-1)))
    assert caught.value.where == "file"
    assert "weight" in caught.value.field
    assert "must be above 0" in caught.value.problem
    assert str(caught.value) == f"file: {caught.value.field}: {caught.value.problem}"
    assert str(InputError("file", "", "is empty")) == "file: is empty"


def test_circuits_need_a_fabric_that_has_them() -> None:
    data = rack(residents=[ring_resident() | {"devices": ["s0.g0", "s1.g0"]}])
    data["cluster"]["fabric"] = FAT_TREE
    with pytest.raises(InputError, match="a fat_tree has no circuits; remove them"):
        parse(data)


def test_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        Instance.load(tmp_path / "none.yaml")


@pytest.mark.parametrize("text", ["x: &a [*a]", "x: &a {b: *a}", "x: &a {b: [1, {c: *a}]}"])
def test_an_alias_to_what_it_is_in_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"x\.yaml: is no valid YAML: an alias \(\*\) stands for what it is in"):
        parse_text(text, "x.yaml")


def test_aliases_of_aliases_are_each_looked_at_once() -> None:
    lines = ["x0: &x0 [1]", *(f"x{n}: &x{n} [*x{n - 1}, *x{n - 1}]" for n in range(1, 50))]
    assert len(parse_text("\n".join(lines), "x.yaml")) == 50


def test_an_alias_to_what_stands_before_it_is_read() -> None:
    assert parse_text("x: &a [1]\ny: [*a, *a]", "x.yaml") == {"x": [1], "y": [[1], [1]]}
