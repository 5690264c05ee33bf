"""One search at a time, its points and its end."""

import threading

import pytest

from planner.model.errors import ConflictError, InputError, RefusedPlanError
from planner.model.result import Incumbent
from planner.studio.search import RunningSearch, SearchSlot


def test_one_search_at_a_time_until_it_is_stopped() -> None:
    slot, began = SearchSlot(), threading.Event()

    def work(search: RunningSearch) -> int:
        search.note(Incumbent(0.0, "value", 1.0, None, "first_fit"))
        began.set()
        while not search.is_stopped():
            threading.Event().wait(0.01)
        return 7

    slot.stop()
    assert not slot.is_busy
    search = slot.start("solving a", 1.0, work)
    assert began.wait(60)
    with pytest.raises(ConflictError, match="solving a: goes on; one search runs at a time"):
        slot.start("solving b", 1.0, work)
    assert search.data["ended"] is None
    slot.stop()
    slot.wait(60)
    assert not slot.is_busy
    assert search.data["ended"] == {"variant": 7}
    assert search.data["is_stopped"]
    assert [(point["objective"], point["bound"]) for point in search.points] == [(1.0, None)]
    assert slot.start("solving b", 1.0, lambda search: 8) is not search
    slot.wait(60)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (InputError("a.yaml", "jobs", "are none; give one"), "are none; give one"),
        (RefusedPlanError(["s0.t1 has two jobs"], None), "s0.t1 has two jobs"),
        (ZeroDivisionError(), "ended by an error of its own"),
    ],
)
def test_what_goes_wrong_is_told(error: Exception, said: str, caplog: pytest.LogCaptureFixture) -> None:
    slot = SearchSlot()

    def work(search: RunningSearch) -> int:
        raise error

    search = slot.start("solving", 1.0, work)
    slot.wait(60)
    assert search.ended is not None
    assert said in search.ended["error"]["problem"]
    assert ("search failed" in caplog.text) == isinstance(error, ZeroDivisionError)


def test_of_very_many_bounds_the_plans_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.studio.search.MOST_POINTS", 2)
    search = RunningSearch("solving", 1.0)
    for number in range(5):
        search.note(Incumbent(0.0, "value", None, 9.0 - number, "bound"))
    search.note(Incumbent(0.0, "value", 1.0, None, "cpsat"))
    assert [point["source"] for point in search.points] == ["bound", "bound", "cpsat"]
