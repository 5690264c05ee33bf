"""A disk without room: events are refused with 503 and have not happened, health says so, and it goes on by itself."""

from pathlib import Path

import pytest

from planner.controller import Controller, Settings
from tests.planner.controller.test_durable import full
from tests.planner.service.running import job, running, until
from tests.planner.simulate.grounds import cluster


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


@pytest.mark.slow
@pytest.mark.parametrize("text", ['{"name": "a", "name": "b"}', '{"workload": {"kind": "x", "kind": "y"}}'])
def test_json_that_says_something_twice_is_refused(text: str) -> None:
    with running() as site:
        answer = site.client.post("/v1/jobs", content=text, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422
        assert answer.json()["problem"] == "is given twice in one object; give it once"
