"""Questions over HTTP, and news for those who follow."""

import threading
import time
from pathlib import Path

import pytest

from planner.checks import check
from planner.controller import Controller, Settings
from planner.controller.switch_reconciler import SwitchReconciler
from planner.integrations.switch_drivers import driver_of
from planner.model import files
from planner.model.instance import Instance
from planner.model.plan import Plan
from tests.planner.controller.sites import controller as small_controller
from tests.planner.service.running import Running, running, until
from tests.planner.simulate.grounds import cluster


@pytest.mark.slow
def test_a_job_says_where_it_runs_or_why_it_waits(site: Running) -> None:
    site.submit("a", 32, tenant="t", priority=3)
    site.submit("b", [8, 16])
    a, b = site.get("/v1/jobs/a"), site.get("/v1/jobs/b")
    assert (a["state"], a["tenant"], a["priority"], a["waits_for"]) == ("running", "t", 3, None)
    assert a["devices"] == list(site.controller.running["a"].device_names)
    assert a["connected"] is None, "nothing here sets circuits"
    assert (b["state"], b["accelerators"], b["devices"]) == ("waiting", [8, 16], None)
    assert b["waits_for"]["tag"] == "room"


def test_a_job_says_whether_its_circuits_are_on(tmp_path: Path) -> None:
    """While a part is broken that nobody knows of, the job moves until all of its circuits can be made."""
    controller = small_controller("lightpath")
    driver = driver_of({"kind": "file"}, tmp_path)
    (tmp_path / "faults.json").write_text('["s0.t0:port"]')
    with running(controller, carrier=SwitchReconciler(controller, driver)) as site:
        site.submit("a", 32)
        until(lambda: site.controller.down)
        assert site.get("/v1/jobs/a")["state"] == "waiting", "all 32 would have to work"
        site.submit("b", 16)
        until(lambda: site.get("/v1/jobs/b")["connected"])
        assert driver.applied() == site.get("/v1/circuits")["circuits"]
        seq = site.get("/v1/decisions", after=0)["seq"]
        assert seq == 3, "what the switches told is an event that others hear of"


def test_jobs_are_listed_running_ones_first(site: Running) -> None:
    for i in range(25):
        site.submit(f"j{i}", 2)
    found = site.get("/v1/jobs", limit=20)
    assert found["total"] == 25
    states = [each["state"] for each in found["jobs"]] + [e["state"] for e in site.get("/v1/jobs", offset=20)["jobs"]]
    assert states == ["running"] * 16 + ["waiting"] * 9
    assert len(site.get("/v1/jobs", state="waiting")["jobs"]) == 9
    for query in ({"limit": 0}, {"limit": 501}, {"offset": -1}, {"state": "lost"}, {"limit": "x"}, {"offset": 10**30}):
        assert site.client.get("/v1/jobs", params=query).status_code == 422


def test_the_whole_is_what_the_controller_says(site: Running) -> None:
    assert site.get("/v1/plan") == {"instance": None, "plan": None}
    site.submit("a", 16)
    assert site.get("/v1/state") == site.controller.state()
    wanted = [held.model_dump(mode="json", by_alias=True) for held in site.controller.circuits()["a"]]
    assert site.get("/v1/circuits") == {"seq": 1, "circuits": {"a": wanted}, "memory": {}, "upper": {}}
    whole = site.get("/v1/plan")
    instance, plan = (files.validate(m, whole[k], k) for m, k in ((Instance, "instance"), (Plan, "plan")))
    assert check(instance, plan) == []
    assert site.get("/v1/check") == {"violations": []}
    assert [each["name"] for each in site.get("/v1/floor")["jobs"]] == ["a"]


def test_news_are_told_in_order_and_in_parts(site: Running) -> None:
    answers = [site.submit(f"j{i}", 4) for i in range(5)]
    first = site.get("/v1/decisions", limit=3)
    assert [event["seq"] for event in first["events"]] == [1, 2, 3]
    rest = site.get("/v1/decisions", after=first["seq"])
    assert rest["seq"] == 5
    events = first["events"] + rest["events"]
    assert [event["decisions"] for event in events] == [answer["decisions"] for answer in answers]
    assert {event["event"] for event in events} == {"submit"}
    assert site.get("/v1/decisions", after=5) == {"seq": 5, "events": []}
    assert site.client.get("/v1/decisions", params={"after": 6}).status_code == 410


@pytest.mark.slow
def test_who_waits_for_news_hears_at_once(site: Running) -> None:
    late = threading.Timer(0.2, site.submit, ("a", 4))
    late.start()
    began_s = time.monotonic()
    found = site.get("/v1/decisions", after=0, wait=30)
    assert [event["seq"] for event in found["events"]] == [1]
    assert time.monotonic() - began_s < 25, "before its time is over"
    late.join()
    assert site.get("/v1/decisions", after=1, wait=0.1)["events"] == []


@pytest.mark.slow
def test_who_waits_for_news_may_wait_as_long_as_said() -> None:
    with running(timeout_s=1.0) as site:
        assert site.get("/v1/decisions", after=0, wait=1.5) == {"seq": 0, "events": []}


def test_what_the_journal_has_forgotten_is_gone() -> None:
    settings = Settings(snapshot_every=4, keep_events=4)
    with running(Controller(cluster("lightpath"), settings=settings)) as site:
        for i in range(9):
            site.submit(f"j{i}", 1)
        response = site.client.get("/v1/decisions", params={"after": 1})
        assert response.status_code == 410
        assert "read the state" in response.json()["problem"]
        assert site.get("/v1/decisions", after=site.controller.seq - 1)["events"]


def test_health_needs_no_token_and_tells_the_end(site: Running) -> None:
    assert site.client.get("/healthz", headers={"Authorization": ""}).json() == {"status": "ok"}
    site.service.is_stopping = True
    response = site.client.get("/healthz")
    assert (response.status_code, response.json()) == (503, {"status": "stopping"})
    response = site.client.get("/v1/jobs")
    assert response.status_code == 503
    assert int(response.headers["retry-after"]) > 0
