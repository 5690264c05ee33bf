"""The collector of cycles rests inside, and is as before afterwards, whatever happens."""

import gc

import pytest

from planner.model.collector import resting_collector


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
