"""The collector of cycles rests inside, and is as before afterwards, whatever happens."""

import gc
from collections.abc import Iterator
from weakref import ref

import pytest

from planner.model import collector
from planner.model.collector import FEW, MOST_UNSEEN, resting_collector


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


@pytest.fixture
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The tests keep what they load from the collector; here nothing is kept, as in a process that plans."""
    monkeypatch.setattr(collector._Kept, "is_for_good", None)
    monkeypatch.setattr(collector._Kept, "num_unseen", 0)
    gc.unfreeze()
    yield
    gc.collect()
    gc.freeze()


@pytest.mark.usefixtures("nothing_kept")
def test_many_new_objects_are_old_afterwards() -> None:
    with resting_collector():
        made = [[number] for number in range(2 * FEW)]
    young = {id(each) for generation in (0, 1) for each in gc.get_objects(generation)}
    assert not any(id(each) in young for each in made)


@pytest.mark.usefixtures("nothing_kept")
def test_garbage_among_old_objects_stays_small() -> None:
    with resting_collector():
        first = ref(_Cycle())
        made = [[number] for number in range(2 * FEW)]
    assert first() is not None
    for _ in range(MOST_UNSEEN // FEW):
        with resting_collector():
            made += [[number] for number in range(2 * FEW)]
    assert first() is None


def test_what_somebody_keeps_is_kept_on() -> None:
    kept = gc.get_freeze_count()
    assert kept
    with resting_collector():
        made = [[number] for number in range(2 * FEW)]
    assert len(made) == 2 * FEW
    assert gc.get_freeze_count() >= kept - 100
