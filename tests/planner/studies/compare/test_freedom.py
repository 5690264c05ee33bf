"""What a freedom is worth: twins whose values compare."""

from pathlib import Path
from typing import Any

import pytest

from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.studies.compare.freedom import Freedom, have_same_jobs, plain_alike, twins
from planner.studies.compare.rows import PolicyRow
from tests.paths import ROOT
from tests.planner.studies.compare.reference_cases import crowded, twin_files


def test_a_twin_is_measured_against_the_first_file(tmp_path: Path) -> None:
    own, plain = twins(twin_files(tmp_path))
    other = plain_alike(own, plain)
    assert all(job.reference is None for job in (*own.instance.jobs, *plain.instance.jobs))
    assert all(job.reference is not None for job in other.instance.jobs)
    assert other.base == other.instance


def test_twins_have_the_same_jobs(tmp_path: Path) -> None:
    path = twin_files(tmp_path, jobs=crowded()["jobs"][:1])
    with pytest.raises(InputError, match=r"must be those of own\.yaml"):
        twins(path)


def test_without_a_twin_there_is_nothing_to_compare(tmp_path: Path) -> None:
    path = twin_files(tmp_path)
    (tmp_path / "own_plain.yaml").unlink()
    with pytest.raises(InputError, match=r"there is no own_plain\.yaml beside it"):
        twins(path)


def test_every_shipped_twin_is_one() -> None:
    """Names, weights and models of jobs agree."""
    plain = sorted((ROOT / "instances").glob("*/*_plain.yaml"))
    assert plain
    for path in plain:
        own, other = (Instance.load(each) for each in (path.with_name(path.name.replace("_plain", "")), path))
        assert own.name != other.name
        assert have_same_jobs(own, other)


def test_what_has_no_plan_is_worth_nothing_known() -> None:
    nothing: dict[str, Any] = dict.fromkeys(PolicyRow.__dataclass_fields__)
    row = PolicyRow(**nothing)
    assert Freedom(row, row).worth is None
