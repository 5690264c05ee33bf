"""A job is broken where it holds a failed memory unit."""

from tests.planner.simulate.outages_cases import spanning, with_failed


def test_a_job_is_broken_where_it_holds_a_failed_memory_unit() -> None:
    _, placement = spanning("sipam", 2)
    assert placement.owned is not None
    held = dict(placement.owned.masks)
    for unit in range(24):
        state = with_failed("sipam", f"s0.m0.u{unit}")
        assert state.broken(placement) == bool(held.get(("unit", 0, 0, 0), 0) >> unit & 1)
    assert any(part[0] == "unit" for part in held)
