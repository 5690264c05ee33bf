"""An event happens whole or not at all."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from planner.controller import Controller, Settings
from planner.model.errors import InputError, UnwrittenError
from tests.oracles.controller import replayed
from tests.planner.controller.durable_cases import full
from tests.planner.controller.journal_cases import ROOMY
from tests.planner.controller.journal_file_cases import opened
from tests.planner.controller.sites import request, started
from tests.planner.simulate.grounds import cluster


def _go_wrong(c: Controller) -> None:
    with c.group():
        c.submit(request("c", 4))
        c.finish("a")
        raise KeyError


def test_a_group_happens_whole_or_not_at_all(path: Path) -> None:
    with Controller(cluster("fat_tree"), path, ROOMY) as c:
        with c.group():
            c.submit(request("a", 4))
            c.submit(request("b", 4))
        assert c.seq == 2
        state = c.state()
        with pytest.raises(KeyError):
            _go_wrong(c)
        assert c.state() == state
        assert c.seq == 2
        assert started(c.submit(request("c", 4))) == ["c"]
        with c.group(), pytest.raises(InputError):
            c.finish("nobody")
        assert c.seq == 3


def test_an_error_inside_an_event_leaves_nothing_behind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Controller(cluster("fat_tree"), path, ROOMY) as c:
        c.submit(request("a", 4))
        state = c.state()
        with monkeypatch.context() as patch:
            patch.setattr("planner.controller.controller.SchedulingCycle", None)
            with pytest.raises(TypeError):
                c.submit(request("b", 4))
        assert c.state() == state
        assert c.check() == []
        assert started(c.submit(request("b", 4))) == ["b"]


def test_a_closed_controller_says_so(path: Path) -> None:
    c = Controller(cluster("fat_tree"), path, ROOMY)
    c.close()
    with pytest.raises(RuntimeError, match="open it again"):
        c.submit(request("a", 4))


def _go_on_after_an_error(c: Controller, monkeypatch: pytest.MonkeyPatch) -> None:
    with c.group():
        c.submit(request("b", 4))
        with monkeypatch.context() as patch:
            patch.setattr("planner.controller.controller.SchedulingCycle", None)
            with pytest.raises(TypeError):
                c.submit(request("c", 4))
        with pytest.raises(RuntimeError, match="none of them has happened"):
            c.submit(request("d", 4))


def test_an_error_inside_a_group_ends_all_of_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where whoever calls goes on: what follows in the group does not happen either."""
    with Controller(cluster("fat_tree"), path, ROOMY) as c:
        c.submit(request("a", 4))
        state = c.state()
        with pytest.raises(RuntimeError, match="none of them has happened"):
            _go_on_after_an_error(c, monkeypatch)
        assert c.state() == state
        assert c.seq == 1
        assert started(c.submit(request("b", 4))) == ["b"]
    assert set(replayed(path).jobs) == {"a", "b"}


def submit(controller: Controller, first: int, last: int) -> None:
    for number in range(first, last):
        controller.submit(request(f"j{number}", 2))


def submit_together(controller: Controller, first: int, last: int) -> None:
    with controller.group():
        submit(controller, first, last)


def test_an_event_on_a_full_disk_has_not_happened(path: Path) -> None:
    with Controller(cluster("lightpath"), path, Settings(greedy_budget_s=60, snapshot_every=1000)) as controller:
        controller.submit(request("a", 2))
        full(controller, is_full=True)
        with pytest.raises(UnwrittenError, match="full; make room on its disk"):
            submit(controller, 0, 200)
        assert 1 < controller.seq < 200
        assert len(controller.running) + len(controller.waiting) == controller.seq
        state, seq = controller.state(), controller.seq
        with pytest.raises(UnwrittenError):
            submit_together(controller, 200, 240)
        assert (controller.state(), controller.seq) == (state, seq)
        full(controller, is_full=False)
        controller.probe()
        assert controller.submit(request("b", 2))
        state = controller.state()
    with Controller(journal=path) as again:
        assert again.state() == state


def test_a_group_that_cannot_begin_has_not_happened(path: Path) -> None:
    """As on a disk that can only be read."""
    with opened(path) as controller:
        database = controller._durable.journal._db
        database.execute("PRAGMA query_only=ON")
        with pytest.raises(UnwrittenError, match="readonly"):
            submit_together(controller, 0, 1)
        database.execute("PRAGMA query_only=OFF")
        submit_together(controller, 0, 1)
        assert controller.seq == 1


def test_a_snapshot_that_finds_no_room_undoes_no_event(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the event did is answered, since it is on disk."""
    with opened(path) as controller:
        for i in range(3):
            controller.submit(request(f"j{i}", 2))

        def snapshot(body: Any, keep_events: int) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(controller._durable.journal, "snapshot", snapshot)
            decisions = controller.submit(request("j3", 2), key="k3")
            assert decisions
            assert [d.body() for d in controller.submit(request("j3", 2), key="k3")] == [d.body() for d in decisions]
        state = controller.state()
    with Controller(journal=path) as again:
        assert again.state() == state
