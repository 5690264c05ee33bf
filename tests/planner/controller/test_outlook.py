"""What is told before a job is submitted is what happens when it is; asking changes nothing."""

import random
import time
from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

import pytest

from planner.controller import Request, Start, Wait
from planner.controller.free_state import Found
from planner.controller.outlook import LONGEST_S, Outlook
from planner.controller.pending_reason import NOT_REACHED
from planner.fabrics.job_class import JobClass
from planner.model.errors import InputError
from tests.planner.controller.sites import controller, request


class _Days:
    """A controller of which users, operators and clocks want something by seed."""

    def __init__(self, fabric: str, seed: int, depth: int) -> None:
        self.draw, self.now_s = random.Random(seed), 1e9
        settings = {"moves": False, "preempts": False, "patience_s": 300.0, "half_life_s": 200.0, "depth": depth}
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


@pytest.mark.parametrize(("seed", "depth"), [(0, 50), (5, 50), (13, 50), (14, 50), (15, 50), (0, 1), (3, 1)])
@pytest.mark.parametrize("fabric", ["lightpath", "fat_tree", "ocs_rail", "torus"])
def test_what_is_told_is_what_happens(fabric: str, seed: int, depth: int) -> None:
    """Also where the submission renews what is kept: another job is the first by now, or time has passed. Why a job
    waits counts what others take that start at last. An event that looks at one job behind the first says so."""
    days, told, reasons = _Days(fabric, seed, depth), list[bool](), list[str]()
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
            reasons.append(waits[0].because)
    assert len(set(told)) == 2
    assert any(NOT_REACHED[1] in because for because in reasons) == (depth == 1)


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


@pytest.mark.parametrize("is_new", [True, False])
def test_a_search_that_is_cut_short_is_begun_again_with_more_time(
    monkeypatch: pytest.MonkeyPatch, *, is_new: bool
) -> None:
    c, asked, left_s = controller("fat_tree", {"greedy_budget_s": 0.0003}), request("j", 4), list[float]()
    c.submit(request("limited", 8, duration_s=100.0), at_s=1000.0)
    free = c._durable.state.free
    real, most = free.find, [1]

    def find(name: str, kind: JobClass, barred: frozenset[int], deadline_s: float) -> Found:
        left_s.append(deadline_s - time.perf_counter())
        return Found(ran_out=True) if len(left_s) <= most[0] else real(name, kind, barred, inf)

    monkeypatch.setattr(free, "find", find)
    if not is_new:
        c.prepare(asked)
    assert c.ask(asked, at_s=1001.0).starts
    assert len(left_s) == 2
    assert left_s[0] <= 0.0003 < left_s[1] <= LONGEST_S
    most[0] = len(left_s) + 2
    found = c.ask(asked, at_s=1001.0)
    assert (found.starts, found.tag, found.earliest_s) == (False, "time", None)
    assert found.because == (
        "4 accelerators are needed and 24 are free; whether they make a place for it was not found out in 100 ms"
    )


def test_a_place_that_is_found_at_once_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    c, calls = controller("fat_tree", {}), 0
    free = c._durable.state.free
    real = free.find

    def find(*given: Any) -> Found:
        nonlocal calls
        calls += 1
        return real(*given)

    monkeypatch.setattr(free, "find", find)
    assert c.ask(request("j", 4)).starts
    assert calls == 1
