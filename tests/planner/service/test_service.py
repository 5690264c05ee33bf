"""What happens behind the routes: new kinds of jobs, quiet times, control loops, and a disk that is full."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner.controller import Controller, Request, Settings, driver_calls
from planner.controller.switch_driver import NO_CIRCUITS
from planner.controller.switch_reconciler import SwitchReconciler
from planner.integrations.switch_drivers import Circuits
from planner.service.idle_replan import IdleReplan
from planner.service.options import Options
from planner.service.server import _Server, configuration
from tests.planner.controller.durable_cases import full
from tests.planner.controller.sites import controller as small_controller
from tests.planner.controller.sites import request
from tests.planner.service.running import MOST_S, Running, job, running, until
from tests.planner.simulate.grounds import BERT, CHAT, cluster

ODD: tuple[Any, ...] = (0, -1, 3, 2**31, 2**62, 1e308, 5e-324, True, None, "", "x" * 300, "1e308 s", "\u202e", [], {})


@pytest.mark.slow
def test_a_new_kind_of_job_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """While one is expanded others start, run and end; those that bring the same kind wait for it together."""
    controller, go_on, begun = small_controller("lightpath"), threading.Event(), list[str]()
    prepare = controller.prepare

    def slow(request: Request, *, is_asked: bool) -> None:
        begun.append(request.name)
        if request.sizes == (16,):
            go_on.wait(MOST_S)
        prepare(request, is_asked=is_asked)

    monkeypatch.setattr(controller, "prepare", slow)
    with running(controller) as site:
        late = [threading.Thread(target=site.submit, args=(f"new{i}", 16)) for i in range(2)]
        for thread in late:
            thread.start()
        until(lambda: "new0" in begun or "new1" in begun)
        for i in range(5):
            site.submit(f"j{i}", 1)
            site.client.post(f"/v1/jobs/j{i}/finish")
        assert site.controller.seq == 10
        go_on.set()
        for thread in late:
            thread.join()
        assert set(site.controller.running) == {"new0", "new1"}
        assert len(begun) == 2, "one expansion of either kind"


def _leaves(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield from _leaves(each, (*path, key))


@pytest.mark.slow
@pytest.mark.parametrize("workload", [BERT, CHAT])
def test_odd_values_in_any_field_break_nothing(site: Running, workload: Any) -> None:
    whole = Request.model_validate(job("a", 2, workload=workload)).model_dump(mode="json", by_alias=True)
    for number, path in enumerate(_leaves(whole)):
        for odd in ODD[number % 3 :: 3]:
            body = job("a", 2) | Request.model_validate(whole).model_dump(mode="json", by_alias=True)
            here: Any = body
            for key in path[:-1]:
                here = here[key]
            here[path[-1]] = odd
            response = site.client.post("/v1/jobs", json=body)
            assert response.status_code in (200, 422), f"{path} = {odd!r}: {response.text}"
            if response.status_code == 200:
                name = site.controller.view().running or site.controller.view().waiting
                assert site.client.delete(f"/v1/jobs/{name[0].request.name}").status_code == 200


def test_a_journal_that_is_lost_stops_the_service(tmp_path: Path) -> None:
    """Nothing is answered that is not on disk; who starts services starts it again."""
    controller = Controller(cluster("lightpath"), tmp_path / "planner.db", Settings(greedy_budget_s=60))
    with running(controller) as site:
        site.submit("a")
        controller._durable.journal._db.close()
        response = site.client.post("/v1/jobs", json=job("b"))
        assert response.status_code == 500
        assert site.client.get("/healthz").json() == {"status": "lost"}
        assert site.client.get("/v1/jobs").status_code == 503
        server = _Server(configuration(site.client, Options(b"")), site.service)  # type: ignore[arg-type]
        with pytest.raises(StopIteration) as ended:
            server.on_tick(1).send(None)
        assert ended.value.value is True, "the loop of the server ends"
        assert site.service.is_stopping
    with Controller(journal=tmp_path / "planner.db") as again:
        assert set(again.running) == {"a"}


def test_searches_that_were_cut_short_are_taken_up_once_when_it_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    controller, now, looked = small_controller("lightpath"), [0.0], list[float]()
    quiet = IdleReplan(controller, 1.0, lambda: now[0])
    monkeypatch.setattr(controller, "replan", looked.append)

    def tick(at_s: float) -> int:
        now[0] = at_s
        quiet.tick()
        return len(looked)

    controller.submit_all([request("a", 32), request("b", 8)])
    assert [tick(at_s) for at_s in (0.0, 0.5, 0.9, 1.0, 1.5, 9.0)] == [0, 0, 0, 1, 1, 1]
    controller.submit(request("c", 8))
    assert [tick(at_s) for at_s in (10.0, 10.5, 11.0, 12.0)] == [1, 1, 2, 2]
    controller.cancel("a")
    assert [tick(at_s) for at_s in (20.0, 21.0, 30.0)] == [2, 2, 2], "nobody waits"


def test_a_search_for_a_growth_that_was_cut_short_is_taken_up(monkeypatch: pytest.MonkeyPatch) -> None:
    controller, now, looked = small_controller("fat_tree"), [0.0], list[float]()
    monkeypatch.setattr(controller, "replan", looked.append)
    controller.submit_all([request("a", 16, movable=False), request("b", 16, movable=False)])
    controller.grow(request("a", 24, movable=False), waits=True)
    assert not controller.waiting
    quiet = IdleReplan(controller, 1.0, lambda: now[0])
    for at_s in (0.0, 1.0):
        now[0] = at_s
        quiet.tick()
    assert len(looked) == 1


@pytest.mark.slow
def test_control_loops_are_called_when_something_happens_and_now_and_then() -> None:
    class Counting:
        period_s = 0.2

        def __init__(self) -> None:
            self.ticks = 0

        def tick(self) -> None:
            self.ticks += 1
            if self.ticks == 2:
                raise RuntimeError("an error in one tick does not end the others")

    often, seldom = Counting(), Counting()
    seldom.period_s = 1000.0
    with running(control_loops=[often, seldom]) as site:
        until(lambda: often.ticks >= 4)
        assert seldom.ticks <= 1
        for i in range(3):
            before = seldom.ticks
            site.submit(f"j{i}")
            until(lambda before=before: seldom.ticks > before)
    assert often.ticks >= 4
    ended = often.ticks
    time.sleep(0.5)
    assert often.ticks == ended


def test_the_end_waits_for_the_circuits_of_one_job_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_calls, "PATIENCE_S", MOST_S)
    stopped = threading.Event()

    class Slow:
        calls = 0

        def connect(self, job: str, circuits: Circuits) -> None:
            self.calls += 1
            assert stopped.wait(MOST_S)

        def release(self, job: str, but: Circuits = NO_CIRCUITS) -> None: ...

        def applied(self) -> dict[str, Circuits]:
            return {}

    class Told(SwitchReconciler):
        def stop(self) -> None:
            super().stop()
            stopped.set()

    controller, switches = small_controller("lightpath"), Slow()
    controller.submit_all([request(f"j{i}", 4) for i in range(8)])
    with running(controller, carrier=Told(controller, switches)):
        until(lambda: switches.calls)
    assert switches.calls == 1


def test_what_a_control_loop_decides_is_news() -> None:
    controller = small_controller("lightpath")

    class Submits:
        period_s = 0.05

        def tick(self) -> None:
            if "own" not in controller.running:
                controller.submit(request("own", 2))

    with running(controller, control_loops=[Submits()]) as site:
        assert site.get("/v1/decisions", after=0, wait=20)["events"][0]["event"] == "submit"


@pytest.mark.slow
def test_a_full_disk_is_told_and_survived(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    controller = Controller(cluster("lightpath"), path, Settings(greedy_budget_s=60, snapshot_every=1000))
    with running(controller) as site:
        site.submit("first", 2)
        full(controller, is_full=True)
        statuses = [site.client.post("/v1/jobs", json=job(f"j{i}", 2)).status_code for i in range(120)]
        assert set(statuses) == {200, 503}
        assert statuses == sorted(statuses), "an event of after the disk was full has happened"
        answer = site.client.post("/v1/jobs", json=job("late", 2))
        assert (answer.status_code, "make room on its disk" in answer.json()["problem"]) == (503, True)
        assert "Retry-After" in answer.headers
        health = site.client.get("/healthz")
        assert (health.status_code, health.json()) == (503, {"status": "unwritable"})
        assert site.get("/v1/jobs")["total"] == 1 + statuses.count(200), "questions are answered on"

        full(controller, is_full=False)

        def is_well() -> bool:
            """Somebody asks all the time."""
            return site.client.get("/v1/jobs").status_code == 200 and site.client.get("/healthz").status_code == 200

        until(is_well, 10)
        site.submit("late", 2)
        state = site.get("/v1/state")
    with Controller(journal=path) as again:
        assert again.state() == state
        assert again.seq == 2 + statuses.count(200)
