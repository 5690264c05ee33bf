"""A full run measures attention too."""

from costmodel.measure import plans


def test_a_full_run_measures_more_and_old_devices_no_fp8() -> None:
    quick, full = (plans(is_quick=is_quick, has_fp8=False) for is_quick in (True, False))
    assert all(len(few.cases) < len(many.cases) for few, many in zip(quick, full, strict=True))
    assert {case.row["gemm_dtype"] for case in full[1].cases} == {"bfloat16"}
