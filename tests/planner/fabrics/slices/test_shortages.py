"""Jobs that are left out are told which slices and sizes there are."""

from planner.explain.capacity import why_unlisted
from planner.fabrics.slices.shortages import SliceShortages
from planner.pipeline import solve
from tests.planner.fabrics.slices.clusters import CUBES, OPTIONS, SIPAC, job, sliced


def test_left_out_jobs_are_told_the_sizes() -> None:
    result = solve(sliced(SIPAC, job("a", 6), job("b", 2)), options=OPTIONS)
    (left,) = result.left_out
    assert left.reason.endswith("sizes of slices are 1, 2, 4, 8, 16")


def test_explanations_name_slices_and_sizes() -> None:
    instance = sliced(CUBES, job("a", 16), health={"failed_switches": ["x0"]})
    assert SliceShortages().counted(instance, "a", 16) == (
        "needs slices of working accelerators and switches: 2 of 2 x 2 x 2 (0 found)"
    )
    assert SliceShortages().counted(sliced(CUBES, job("a", 16)), "a", 16) is None
    assert why_unlisted(sliced(SIPAC, job("a", 6)), "a", 6) == (
        "no slice has 6 accelerators as the job divides; sizes of slices are 1, 2, 4, 8, 16"
    )
