"""Two services of one journal: one leads, the other answers questions and takes its place."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import yaml

from planner.controller import Controller
from planner.controller.lease import SILENT_S, LeaseWatch, machine, read_beat
from planner.model.errors import DeposedError
from planner.service import lease_keeper
from planner.service.lease_keeper import LeaseKeeper
from tests.planner.controller.sites import request
from tests.planner.service.restored_services import restored
from tests.planner.service.running import BEARER, job, running, started, until
from tests.planner.simulate.grounds import cluster


class Silent(LeaseWatch):
    """A watch that has seen nothing new for long."""

    @property
    def silent_s(self) -> float:
        return SILENT_S + 1


def keeper_of(controller: Controller, *fence: str) -> LeaseKeeper:
    found = LeaseKeeper(controller, "http://here", fence)
    found.begin(lambda: None, lambda: None)
    return found


def pair(path: Path) -> tuple[Controller, Controller]:
    """Who leads, with a lease, and who stands by, and has seen it."""
    leader = Controller(cluster("lightpath"), path)
    leader.leadership.hold_lease("http://there")
    standby = Controller(journal=path, is_standby=True)
    return leader, standby


def silence(standby: Controller, where: str) -> None:
    """The leader renews no more, and is on this machine."""
    watch = standby.leadership.watch = Silent(standby.leadership.journal.path)
    watch.look()
    assert watch.beat is not None
    watch.beat = replace(watch.beat, machine=where)
    watch.look = lambda: None  # type: ignore[method-assign]


@pytest.mark.slow
def test_a_standby_takes_the_place_of_a_leader_that_is_gone(tmp_path: Path) -> None:
    leader, standby = pair(tmp_path / "j.db")
    with running(standby, keeper=LeaseKeeper(standby, "http://here")) as site:
        assert site.client.get("/healthz").json() == {"status": "standby"}
        lease = site.get("/v1/lease")
        assert lease | {"silent_s": 0} == {"is_leading": False, "term": 1, "leader": "http://there", "silent_s": 0}
        refused = site.client.post("/v1/jobs", json=job("a", 16))
        assert refused.status_code == 503
        assert "at http://there, for which this one stands by" in refused.json()["problem"]
        leader.submit(request("a", 16), key="k")
        news = site.get("/v1/decisions", after=0, wait=20)
        assert [event["seq"] for event in news["events"]] == [1]
        assert site.get("/v1/jobs/a")["state"] == "running"
        assert "photonplan_leading 0.0" in site.client.get("/metrics").text
        leader.close()
        until(lambda: site.client.get("/healthz").status_code == 200)
        assert site.get("/v1/lease")["leader"] == "http://here"
        text = site.client.get("/metrics").text
        assert "photonplan_leading 1.0" in text
        assert "photonplan_term 2.0" in text
        assert site.submit("b", 2)["seq"] == 2


def test_a_leader_that_another_deposed_says_so_once_and_ends(tmp_path: Path) -> None:
    with Controller(cluster("lightpath"), tmp_path / "j.db") as leader:
        lost = list[bool]()
        keeper = LeaseKeeper(leader, "")
        keeper.begin(lambda: None, lambda: lost.append(True))
        assert keeper.tick() == lease_keeper.RENEW_S
        assert leader.leadership.lease is not None
        leader.leadership.lease._until_s = 0.0
        assert keeper.tick() is None
        assert lost == [True]


def test_who_was_stopped_while_it_took_the_lead_ends_by_itself(tmp_path: Path) -> None:
    """Another leads by then: it tells nobody that it lives, and it ends though nobody asks anything of it."""
    path = tmp_path / "j.db"
    with Controller(cluster("lightpath"), path) as late:
        lost, keeper = list[bool](), LeaseKeeper(late, "")
        seen = late._durable.journal._seen
        assert seen is not None
        seen.close()
        with Controller(journal=path) as leader:
            leader.leadership.hold_lease("http://there")
            with pytest.raises(DeposedError, match="in term 2; this one had 1"):
                keeper.begin(lambda: None, lambda: lost.append(True))
            found = read_beat(str(path))
            assert found is not None
            assert found.url == "http://there"
            late.leadership.lease = leader.leadership.lease
            keeper._on_lost = lambda: lost.append(True)
            assert keeper.tick() is None
            assert lost == [True]
            late.leadership.lease = None


def test_a_silent_leader_of_this_machine_is_ended_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leader, standby = pair(tmp_path / "j.db")
    ended = list[int]()

    def end(beat: object) -> bool:
        ended.append(leader.leadership.journal.term)
        leader.close()
        return True

    monkeypatch.setattr(lease_keeper, "end_leader", end)
    keeper = keeper_of(standby)
    keeper.tick()
    assert ended == []
    silence(standby, machine())
    keeper.tick()
    assert (ended, keeper.tick(), standby.require_leading()) == ([1], 0.0, 2)
    standby.close()


@pytest.mark.parametrize("code", [0, 1])
def test_a_silent_leader_of_another_machine_is_fenced(tmp_path: Path, code: int) -> None:
    """By the command that is given, which is told whom to end; nobody leads before the journal is free."""
    leader, standby = pair(tmp_path / "j.db")
    told = tmp_path / "told"
    keeper = keeper_of(standby, "sh", "-c", f"cat >> {told}; echo >> {told}; exit {code}")
    silence(standby, "another")
    for _ in range(3):
        keeper.tick()
        assert standby.leadership.journal.is_reader
    texts = told.read_text().splitlines()
    assert {json.loads(text)["url"] for text in texts} == {"http://there"}
    assert len(texts) == (1 if code == 0 else 3), "one that failed is tried again, no other"
    assert leader.require_leading() == 1
    leader.close()
    keeper.tick()
    assert standby.require_leading() == 2
    standby.close()


def test_a_leader_of_another_machine_may_go_on_until_it_is_silent(tmp_path: Path) -> None:
    """Its locks may be lost although it lives."""
    leader, standby = pair(tmp_path / "j.db")
    keeper, watch = keeper_of(standby), standby.leadership.watch
    keeper.tick()
    assert watch.beat is not None
    watch.beat = replace(watch.beat, machine="another")
    watch.look = lambda: None  # type: ignore[method-assign]
    seen = leader._durable.journal._seen
    assert seen is not None
    os.close(seen._file)
    seen._file = os.open(os.devnull, os.O_RDWR)
    keeper.tick()
    assert standby.leadership.journal.is_reader
    silence(standby, "another")
    keeper.tick()
    assert standby.require_leading() == 2
    for each in (standby, leader):
        each.close()


@pytest.mark.slow
def test_a_process_stands_by(tmp_path: Path) -> None:
    """`planner serve --standby`, while this process leads and after it."""
    file = tmp_path / "cluster.yaml"
    file.write_text(yaml.safe_dump(cluster("lightpath").model_dump(mode="json", by_alias=True)))
    leader = Controller(cluster("lightpath"), tmp_path / "planner.db")
    leader.submit(request("a", 16))
    with started(tmp_path, str(file), "--standby", "--driver", f"file:{tmp_path / 'switches'}") as service:
        with httpx.Client(base_url=service.url, headers=BEARER, timeout=60) as client:
            assert client.get("/healthz").json() == {"status": "standby"}
            assert client.get("/v1/jobs/a").json()["connected"] is False
            leader.close()
            until(lambda: client.get("/healthz").status_code == 200)
            until(lambda: client.get("/v1/jobs/a").json()["connected"])
            assert client.post("/v1/jobs", json=job("b", 2)).json()["seq"] == 2
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(60) == 0
        assert "this controller leads from now on" in service.log.read_text()


@pytest.mark.slow
def test_a_copy_that_was_made_beside_a_standby_goes_on(tmp_path: Path) -> None:
    """Put back by commands when both have ended."""
    assert list(restored(tmp_path, rounds=1)) == []
