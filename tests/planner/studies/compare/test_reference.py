"""Figures of variants and fabrics compare: each job is measured against one reference on all of them."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from planner import solve
from planner.model.instance import Instance
from planner.model.result import SolveOptions
from planner.studies.compare import compare
from planner.studies.compare.grid import Variant, parse_axis, variants
from planner.studies.compare.rows import PolicyRow
from tests.planner.cli.conftest import written
from tests.planner.studies.compare.reference_cases import crowded

RATES = ("1 GB/s", "5 GB/s", "18.75 GB/s", "100 GB/s")
OPTIONS = SolveOptions(workers=1)


def _rows(path: Path, *grid: str, policies: tuple[str, ...] = ("cpsat",)) -> list[PolicyRow]:
    return compare(variants(path, [parse_axis(axis) for axis in grid]), policies, options=OPTIONS).rows


def _all(paths: list[Path]) -> list[Variant]:
    return [variant for path in paths for variant in variants(path, [])]


def _by_rate(path: Path, **options: Any) -> list[PolicyRow]:
    return _rows(path, f"cluster.fabric.wavelength_bandwidth={','.join(RATES)}", **options)


@pytest.mark.slow
@pytest.mark.parametrize("objectives", [["value", "energy"], [{"name": "value", "tolerance": "5 %"}, "energy"]])
def test_more_bandwidth_is_worth_more_and_spends_less(tmp_path: Path, objectives: list[Any]) -> None:
    path = written(tmp_path, {**crowded(), "objectives": objectives})
    rows = _by_rate(path)
    values = [row.value or 0.0 for row in rows]
    assert all(more > 1.01 * less for less, more in pairwise(values)), values
    energies = [row.energy or 0.0 for row in rows]
    assert all(more < less for less, more in pairwise(energies)), energies
    for row in rows:
        assert row.violations == 0
        assert (row.bound, row.gap) == (pytest.approx(row.value, rel=1e-6), pytest.approx(0, abs=1e-6))


@pytest.mark.slow
def test_the_file_as_written_is_the_reference(tmp_path: Path) -> None:
    """What `solve` says of the file stands in the row of its own value, whichever others are beside it."""
    path = written(tmp_path, crowded())
    alone = solve(Instance.load(path), options=OPTIONS)
    assert alone.plan is not None
    few = _rows(path, "cluster.fabric.wavelength_bandwidth=25 GB/s,50 GB/s")
    many = _rows(path, "cluster.fabric.wavelength_bandwidth=1 GB/s,25 GB/s,100 GB/s")
    plain = compare(variants(path, []), ["cpsat"], options=OPTIONS).rows
    assert plain[0].value == alone.objective
    assert [few[0].value, many[1].value] == pytest.approx(2 * [alone.objective], rel=1e-12)
    assert [few[0].energy, many[1].energy] == pytest.approx(2 * [alone.plan.objectives["energy"]], rel=1e-12)


def test_fabrics_are_measured_against_the_first_file(tmp_path: Path) -> None:
    fast, slow = crowded(), crowded()
    slow["name"], slow["cluster"]["fabric"]["wavelength_bandwidth"] = "slow", "1 GB/s"
    files = [written(tmp_path, fast), written(tmp_path, slow, "slow.json")]
    for paths in (files, files[::-1]):
        found = {row.instance: row for row in compare(_all(paths), ["cpsat"], options=OPTIONS).rows}
        assert (found["tiny"].value or 0) > 1.2 * (found["slow"].value or 0)
        assert (found["tiny"].tokens_per_s or 0) > 1.4 * (found["slow"].tokens_per_s or 0)
        assert (found["tiny"].joules_per_token or 9) < (found["slow"].joules_per_token or 0)


def test_a_job_that_the_first_does_not_list_is_measured_where_it_is_listed(tmp_path: Path) -> None:
    data = crowded()
    data["jobs"][0]["constraints"] = {"one_server": True}
    data["jobs"][0]["accelerators"] = [4]
    rows = _rows(written(tmp_path, data), "cluster.fabric.tiles_per_server=2,4,8")
    assert [row.admitted for row in rows] == [1, 2, 2]
    assert (rows[1].value or 0) == pytest.approx(3, rel=1e-6)


def test_another_workload_is_another_job(tmp_path: Path) -> None:
    """Its speed says nothing beside that of the first: it is measured against its own best."""
    path = written(tmp_path, crowded())
    rows = _rows(path, "jobs[a].workload.sequence=512,128")
    assert [row.value for row in rows] == pytest.approx([3, 3], rel=1e-6)


def test_a_step_pays_from_the_same_speed_on_all(tmp_path: Path) -> None:
    path = written(tmp_path, crowded(utility="step", step_at=0.97))
    assert [row.value for row in _by_rate(path, policies=("best_fit",))] == [0, 0, 3, 3]


def test_variants_keep_the_file_that_they_come_from(tmp_path: Path) -> None:
    path = written(tmp_path, crowded())
    found = variants(path, [parse_axis("cluster.fabric.fibers=1,2")])
    assert all(isinstance(each, Variant) and each.base == Instance.load(path) for each in found)
