"""The collector of cycles rests inside, and is as before afterwards, whatever happens."""

import gc
import subprocess
import sys
from collections.abc import Callable
from weakref import ref

import pytest

from planner.model.collector import FEW, MOST_UNSEEN, resting_collector
from tests.paths import ROOT


def test_rests_and_wakes() -> None:
    assert gc.isenabled()
    with resting_collector():
        assert not gc.isenabled()
        with resting_collector():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_wakes_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), resting_collector():
        1 / 0  # noqa: B018
    assert gc.isenabled()


class _Cycle:
    """Only the collector finds that nobody needs it any more."""

    def __init__(self) -> None:
        self.own = self


def _many_new_objects_are_old_afterwards() -> None:
    gc.collect()
    with resting_collector():
        made = [[number] for number in range(2 * FEW)]
    young = {id(each) for generation in (0, 1) for each in gc.get_objects(generation)}
    assert not any(id(each) in young for each in made)


def _garbage_among_old_objects_stays_small() -> None:
    with resting_collector():
        first = ref(_Cycle())
        made = [[number] for number in range(2 * FEW)]
    assert first() is not None
    for _ in range(MOST_UNSEEN // FEW):
        with resting_collector():
            made += [[number] for number in range(2 * FEW)]
    assert first() is None


def _what_somebody_keeps_is_kept_on() -> None:
    gc.freeze()
    kept = gc.get_freeze_count()
    assert kept
    with resting_collector():
        made = [[number] for number in range(2 * FEW)]
    assert len(made) == 2 * FEW
    assert gc.get_freeze_count() >= kept - 100


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [_many_new_objects_are_old_afterwards, _garbage_among_old_objects_stays_small, _what_somebody_keeps_is_kept_on],
)
def test_in_a_process_that_plans(case: Callable[[], None]) -> None:
    """The tests keep what they load from the collector, or no more; in a new process nothing is kept."""
    told = subprocess.run(
        [sys.executable, "-c", f"from {__name__} import {case.__name__} as case; case()"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
