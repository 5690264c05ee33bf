"""Sizes without a slice are rounded up."""

import pytest

from planner.fabrics.job_class import JobClass
from planner.placement.job_classes import prepare, reference_speeds
from planner.placement.job_mix import load_mix
from tests.planner.simulate.grounds import cluster, ground
from tests.planner.simulate.shipped_cases import FOLDER, shipped


def test_sizes_without_a_slice_are_rounded_up() -> None:
    kinds: dict[tuple[int, int], JobClass] = ground("g", cluster("sipac"), [3, 6]).kinds
    assert (kinds[0, 3].size, kinds[0, 3].held) == (3, 4)
    assert kinds[0, 6].held == 8
    assert kinds[0, 6].fastest > 1


def test_jobs_offload_where_there_is_memory_for_it() -> None:
    given = load_mix(FOLDER / "offload_mix.yaml")
    speeds = reference_speeds(given, [8])
    best = {}
    for name in ("memory_ring256", "fat_tree256"):
        row = prepare(name, shipped(name), given, speeds).kinds[2, 8].rows[0]
        best[name] = row.options.candidates.configuration(row.number).offload, row.rate
    choice, rate = best["memory_ring256"]
    without, reference = best["fat_tree256"]
    assert choice not in (None, "none")
    assert without == "none"
    assert rate > reference == pytest.approx(1)


def test_a_box_that_is_asked_for_is_what_its_rows_hold() -> None:
    given = load_mix(FOLDER / "mixes" / "slices.yaml")
    site = prepare("g", shipped("torus4096"), given, reference_speeds(given, [16, 3072]), ["2x2x4", "1x4x4", "4x4x192"])
    for shape, extents in (("2x2x4", [2, 2, 4]), ("1x4x4", [1, 4, 4])):
        rows = site.boxes[0, shape].rows
        assert rows
        assert all(sorted(row.shape.cut) == extents for row in rows)
    assert site.boxes[0, "4x4x192"].rows
    assert all((row.shape.num_ranks, row.shape.cut) == (3072, (4, 4, 4)) for row in site.boxes[0, "4x4x192"].rows)
    elsewhere = prepare("f", cluster("fat_tree"), given, reference_speeds(given, [16]), ["2x2x4"])
    assert elsewhere.boxes[0, "2x2x4"].held == 16
