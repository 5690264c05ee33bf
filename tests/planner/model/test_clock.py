"""One clock: it only gets shorter, but for what must be done in any case."""

from planner.model.clock import Clock


def test_a_part_never_ends_after_the_whole() -> None:
    clock = Clock.of(100.0)
    assert clock.within(1000.0).ends_s == clock.ends_s
    assert 0.0 < clock.within(5.0).left_s <= 5.0
    assert Clock.of(-1.0).left_s == 0.0


def test_over_when_time_is_up_or_somebody_asks() -> None:
    assert not Clock.of(100.0).is_over
    assert Clock.of(0.0).is_over
    assert Clock.of(100.0, lambda: True).is_over
    assert Clock.of(100.0, lambda: True).within(50.0).is_over


def test_what_must_be_done_lasts() -> None:
    assert not Clock.of(0.0, lambda: True).lasting(100.0).is_over
    assert Clock.of(0.0).lasting(0.0).is_over


def test_work_has_time_if_it_ends_before_the_clock_does() -> None:
    assert Clock.of(100.0).has(50.0)
    assert not Clock.of(100.0).has(200.0)
    assert not Clock.of(100.0, lambda: True).has(50.0)
    assert Clock.of(0.0).lasting(100.0).has(50.0)
