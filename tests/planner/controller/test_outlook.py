"""What is told before a job is submitted is what happens when it is; asking changes nothing."""

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from planner.controller import Request, Start, Wait
from planner.controller.free_state import Found
from planner.controller.outlook import Outlook
from planner.model.errors import InputError
from tests.planner.controller.sites import controller, request


class _Days:
    """A controller of which users, operators and clocks want something by seed."""

    def __init__(self, fabric: str, seed: int) -> None:
        self.draw, self.now_s = random.Random(seed), 1e9
        settings = {"moves": False, "preempts": False, "patience_s": 300.0, "half_life_s": 200.0}
        self.controller = controller(fabric, settings)

    def pass_by(self) -> None:
        """Time passes, with what may happen in it."""
        c, draw = self.controller, self.draw
        self.now_s += draw.choice([0.0, 1.0, 30.0, 100.0])
        what, server = draw.random(), f"s{draw.randrange(4)}"
        if what < 0.3 and c.running:
            c.finish(draw.choice(list(c.running)), at_s=self.now_s)
        elif what < 0.35 and c.waiting:
            c.cancel(draw.choice(list(c.waiting)), at_s=self.now_s)
        elif what < 0.42:
            (c.repair if server in c.down else draw.choice([c.drain, c.fail]))(server, at_s=self.now_s)
        self.now_s += draw.choice([0.0, 1.0, 30.0, 100.0])

    def job(self, name: str) -> Request:
        limits, draw = [None, 60.0, 200.0, 600.0], self.draw
        about = {
            "priority": draw.choice([0, 0, 0, 1, 2]),
            "tenant": draw.choice("ab"),
            "duration_s": draw.choice(limits),
        }
        return request(name, draw.choice([1, 2, 4, 8, 16]), **about)


@pytest.mark.parametrize("seed", [0, 5, 13, 14, 15])
@pytest.mark.parametrize("fabric", ["lightpath", "fat_tree", "ocs_rail", "torus"])
def test_what_is_told_is_what_happens(fabric: str, seed: int) -> None:
    """Also where the submission renews what is kept: another job is the first by now, or time has passed. Why a job
    waits counts what others take that start at last."""
    days, told = _Days(fabric, seed), []
    c = days.controller
    for number in range(40):
        days.pass_by()
        asked = days.job(f"j{number}")
        before = c.state(), c.num_free, c.seq
        found = c.ask(asked, at_s=days.now_s)
        assert (c.state(), c.num_free, c.seq) == before
        assert c.ask(asked, at_s=days.now_s) == found
        decisions = c.submit(asked, at_s=days.now_s)
        started = {each.job: each for each in decisions if isinstance(each, Start)}
        assert found.starts == (asked.name in started)
        told.append(found.starts)
        if found.place is not None:
            assert found.place.device_names == started[asked.name].devices
        elif not started:
            waits = [each for each in decisions if isinstance(each, Wait) and each.job == asked.name]
            assert (found.tag, found.because) == (waits[0].tag, waits[0].because)
    assert len(set(told)) == 2


def test_when_it_could_start_follows_from_limits() -> None:
    c = controller("fat_tree", {"moves": False, "preempts": False})
    c.submit(request("long", 16, duration_s=500.0), at_s=1000.0)
    c.submit(request("short", 16, duration_s=100.0), at_s=1000.0)
    found = c.ask(request("next", 16), at_s=1000.0)
    assert (found.starts, found.earliest_s, found.ahead) == (False, 100.0, 0)
    c.submit(request("first", 32, priority=3), at_s=1001.0)
    assert c.ask(request("next", 16), at_s=1001.0).ahead == 1
    assert c.ask(request("urgent", 16, priority=5), at_s=1001.0).ahead == 0
    c.submit(request("endless", 8), at_s=1002.0)
    assert c.ask(request("all", 32), at_s=1002.0).earliest_s == pytest.approx(498.0)
    assert c.ask(request("all", 32), at_s=1100.0).earliest_s == pytest.approx(400.0)
    with pytest.raises(InputError, match="no time"):
        c.ask(request("all", 32), at_s=float("nan"))


def _answer(call: Callable[[], Outlook]) -> tuple[object, ...]:
    try:
        found = call()
    except InputError as error:
        return (str(error),)
    return found.starts, found.tag, found.because, found.place and found.place.device_names


@pytest.mark.parametrize("fabric", ["lightpath", "ocs_rail", "torus", "sipam"])
def test_a_question_about_a_new_kind_is_answered_as_one_about_a_known_kind(fabric: str) -> None:
    draw, answers = random.Random(1), set()
    quotas = {"few": {"accelerators": 8}, "dark": {"ports": 4}}
    c = controller(fabric, {"moves": False, "preempts": False, "quotas": quotas})
    for number in range(14):
        size, tenant = draw.choice([2, 4, 8, 16]), draw.choice(["default", "few", "dark"])
        asked = request(f"j{number}", size, tenant=tenant, utility="step", step_at=0.5 + number * 1e-6)
        told = _answer(partial(c.ask, asked))
        assert not c.is_prepared(asked)
        if len(told) > 1:
            c.prepare(asked)
            assert c.is_prepared(asked)
        assert _answer(partial(c.ask, asked)) == told
        answers.add(told[0])
        if number % 2 == 0 and len(told) > 1:
            c.submit(asked)
    assert {True, False} <= answers
    assert c.check() == []


def test_a_search_among_rows_that_are_new_is_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    c, asked, calls = controller("fat_tree", {}), request("j", 4), list[str]()
    free = c._durable.state.free
    real = free.find

    def find(name: str, *given: Any) -> Found:
        calls.append(name)
        return Found(ran_out=True) if len(calls) % 3 else real(name, *given)

    monkeypatch.setattr(free, "find", find)
    assert c.ask(asked).starts
    assert len(calls) == 3
    c.prepare(asked)
    assert (c.ask(asked).tag, len(calls)) == ("time", 4)
