"""`planner serve` as a process: what it refuses to start with, how it stops, and what a kill leaves."""

import signal
import threading
from pathlib import Path

import httpx
import pytest
import yaml

from planner.controller import Controller
from planner.model.errors import InputError
from tests.planner.service.running import BEARER, MOST_S, TOKEN, Process, job, started, until
from tests.planner.simulate.grounds import cluster


@pytest.fixture
def floor_file(tmp_path: Path) -> str:
    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump(cluster("lightpath").model_dump(mode="json", by_alias=True)))
    return str(path)


def client(service: Process) -> httpx.Client:
    return httpx.Client(base_url=service.url, headers=BEARER, timeout=MOST_S)


@pytest.mark.slow
def test_a_service_that_is_stopped_answers_what_it_took(tmp_path: Path, floor_file: str) -> None:
    """Clients submit without pause; whatever was answered 200 is in the journal, which is closed with a snapshot."""
    taken, lock = list[str](), threading.Lock()

    def submit(service: Process, number: int) -> None:
        with client(service) as asker:
            for i in range(10_000):
                name = f"j{number}.{i}"
                try:
                    response = asker.post("/v1/jobs", json=job(name, 2))
                except httpx.TransportError:
                    return
                if response.status_code == 200:
                    with lock:
                        taken.append(name)
                elif response.status_code == 503:
                    return

    with started(tmp_path, floor_file, "--rate", "0", "--driver", f"file:{tmp_path / 'switches'}") as service:
        askers = [threading.Thread(target=submit, args=(service, number)) for number in range(4)]
        for asker in askers:
            asker.start()
        until(lambda: len(taken) >= 60)
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(MOST_S) == 0, service.log.read_text()
        for asker in askers:
            asker.join()
        last = service.lines()[-1]
        assert (last["message"], last["events"]) == ("stopped", len(taken))
        assert TOKEN not in service.log.read_text()
        assert not [line for line in service.lines() if line["level"] == "error"]
    private = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "cluster.yaml"]
    made = {path.name: path.stat().st_mode & 0o777 for path in private if not path.name.startswith("log")}
    assert "planner.db" in made
    assert "switches.json" in made
    assert set(made.values()) == {0o600}
    with Controller(journal=tmp_path / "planner.db") as controller:
        assert sorted({*controller.running, *controller.waiting}) == sorted(taken)


@pytest.mark.slow
def test_a_killed_service_goes_on_where_it_was(tmp_path: Path, floor_file: str) -> None:
    with started(tmp_path, floor_file) as service, client(service) as asker:
        answers = [asker.post("/v1/jobs", json=job(f"j{i}", 8), headers={"Idempotency-Key": f"k{i}"}) for i in range(6)]
        state = asker.get("/v1/state").json()
        service.process.kill()
        service.process.wait()
    with started(tmp_path) as service, client(service) as asker:
        assert asker.get("/v1/state").json() == state
        again = asker.post("/v1/jobs", json=job("j5", 8), headers={"Idempotency-Key": "k5"})
        assert again.json()["decisions"] == answers[5].json()["decisions"]
        assert asker.get("/v1/decisions").json()["seq"] == 6
        assert asker.get("/v1/check").json() == {"violations": []}
        with pytest.raises(InputError, match="another controller uses it"):
            Controller(journal=tmp_path / "planner.db")
        service.process.send_signal(signal.SIGINT)
        assert service.process.wait(MOST_S) == 0
