"""Tokens of tenants: their own jobs, nothing of others; the token of the service does all, as before."""

import json
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from planner.cli import main
from planner.service import tenants
from planner.service.tenants import Tokens
from tests.planner.service.running import TOKEN, Running, job, running


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tenants.json"


def made(path: Path, tenant: str, *, is_operator: bool = False, days: float | None = None, priority: int = 0) -> str:
    return tenants.grant(path, tenant, is_operator=is_operator, days=days, most_priority=priority)[1]


@contextmanager
def client(site: Running, token: str) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=site.client.base_url, headers=headers, timeout=60) as found:
        yield found


@pytest.fixture
def two(path: Path) -> Iterator[tuple[Running, httpx.Client, httpx.Client]]:
    """A service, and clients of tenants a and b."""
    tokens = made(path, "a"), made(path, "b", priority=5)
    with running(tenants=path) as site, client(site, tokens[0]) as a, client(site, tokens[1]) as b:
        yield site, a, b


Two = tuple[Running, httpx.Client, httpx.Client]


@pytest.mark.slow
def test_a_job_is_of_the_tenant_whose_token_it_is(two: Two) -> None:
    site, a, b = two
    assert a.post("/v1/jobs", json=job("of-a", 2)).status_code == 200
    assert b.post("/v1/jobs", json=job("of-b", 2, tenant="b", priority=5)).status_code == 200
    assert [site.get(f"/v1/jobs/{name}")["tenant"] for name in ("of-a", "of-b")] == ["a", "b"]
    for body, field in ((job("x", 2, tenant="b"), "tenant"), (job("x", 2, priority=1), "priority")):
        refused = a.post("/v1/jobs", json=body)
        assert (refused.status_code, refused.json()["field"]) == (422, field)
    assert site.submit("of-the-operator", 2, tenant="c", priority=9)["decisions"]
    assert site.get("/v1/jobs")["total"] == 3


@pytest.mark.slow
def test_tenants_see_and_touch_their_own_jobs_alone(two: Two) -> None:
    site, a, b = two
    b.post("/v1/jobs", json=job("of-b", 2))
    a.post("/v1/jobs", json=job("of-a", 2))
    assert [each["name"] for each in a.get("/v1/jobs").json()["jobs"]] == ["of-a"]
    assert a.get("/v1/jobs").json()["total"] == 1
    unknown = a.get("/v1/jobs/none").json()["problem"].replace("none", "of-b")
    touching = (
        a.get("/v1/jobs/of-b"), a.post("/v1/jobs/of-b/finish"), a.delete("/v1/jobs/of-b"),
        a.post("/v1/grow", json=job("of-b", 4)),
        a.post("/v1/shrink", json={"job": job("of-b", 1), "kept": ["s0.t0"]}),
    )  # fmt: skip
    for answer in touching:
        assert (answer.status_code, answer.json()["problem"]) == (404, unknown)
    assert site.get("/v1/jobs/of-b")["state"] == "running"
    assert a.get("/v1/jobs/of-a").status_code == 200
    assert a.post("/v1/grow", json=job("of-a", 4)).status_code == 200
    assert a.post("/v1/jobs/of-a/finish").status_code == 200
    assert b.delete("/v1/jobs/of-b").status_code == 200


OPERATORS = [
    ("GET", "/v1/state"), ("GET", "/v1/decisions"), ("GET", "/v1/circuits"), ("GET", "/v1/plan"), ("GET", "/v1/check"),
    ("GET", "/metrics"), ("POST", "/v1/replan"), ("POST", "/v1/parts/s0.t1/fail"), ("POST", "/v1/parts/s0.t1/repair"),
    ("POST", "/v1/servers/s0/drain"), ("POST", "/v1/servers/s0/undrain"), ("POST", "/scheduler/filter"),
    ("GET", "/v1/jobsandmore"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("method", "path_of"), OPERATORS)
def test_all_else_is_for_operators(method: str, path_of: str, two: Two) -> None:
    site, a, _ = two
    before = site.get("/v1/state")
    assert a.request(method, path_of).status_code == 403
    assert site.get("/v1/state") == before


@pytest.mark.slow
def test_a_tenant_is_told_of_no_others(two: Two, path: Path) -> None:
    """Where another job is stopped for one's own, and on the floor."""
    site, a, b = two
    for number in range(4):
        a.post("/v1/jobs", json=job(f"secret{number}", 8))
    answer = b.post("/v1/jobs", json=job("urgent", 8, priority=5))
    assert {each["job"] for each in answer.json()["decisions"]} == {"urgent"}
    assert len(site.get("/v1/decisions")["events"][-1]["decisions"]) > 1, "another job gave way"
    text = b.get("/v1/floor").text
    assert "urgent" in text
    assert "secret" not in text
    assert '"tenant":"a"' not in text.replace(" ", "")
    whole = site.get("/v1/floor")
    assert json.loads(text)["owner"] == whole["owner"]
    assert "secret" in json.dumps(whole)
    seen = {"since": whole["seq"], "view": whole["view"]}
    assert site.client.get("/v1/floor", params=seen).json().keys() == {"seq", "at_s", "troubles"}
    assert "jobs" in b.get("/v1/floor", params=seen).json(), "what others were shown is not known here"
    assert "jobs" in site.client.get("/v1/floor", params=seen | {"view": "another process/"}).json()


@pytest.mark.slow
def test_keys_of_tenants_are_their_own(two: Two) -> None:
    _, a, b = two
    key = {"Idempotency-Key": "1"}
    first = a.post("/v1/jobs", json=job("of-a", 2), headers=key)
    assert b.post("/v1/jobs", json=job("of-b", 2), headers=key).status_code == 200
    assert a.post("/v1/jobs", json=job("of-a", 2), headers=key).json()["decisions"] == first.json()["decisions"]
    ended = a.post("/v1/jobs/of-a/finish", headers={"Idempotency-Key": "2"})
    assert a.post("/v1/jobs/of-a/finish", headers={"Idempotency-Key": "2"}).json() == ended.json()
    assert b.post("/v1/jobs/of-a/finish", headers={"Idempotency-Key": "2"}).status_code == 404


def test_tokens_expire_and_are_rotated_while_it_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenants, "LOOK_S", 0.0)
    old, short = made(path, "a"), made(path, "a", days=1)
    now = [time.time()]
    tokens = Tokens(b"of the service", path, lambda: now[0])
    for token in (old, short):
        assert tokens.who(token.encode()) == tenants.Who("a", 0)
    now[0] += 86401
    assert tokens.who(short.encode()) is None
    new = made(path, "a")
    assert tokens.who(new.encode()) == tokens.who(old.encode()) == tenants.Who("a", 0)
    tenants.revoke(path, tenants.load(path).tokens[0].id)
    assert tokens.who(old.encode()) is None
    assert tokens.who(new.encode()) is not None
    path.write_text("{")
    assert tokens.who(new.encode()) is not None, "a file that cannot be used changes nothing"
    assert tokens.who(b"of the service") == tenants.OPERATOR
    assert tokens.who(b"other") is None


def test_an_operator_of_the_file_does_all(path: Path) -> None:
    token = made(path, "ops", is_operator=True)
    with running(tenants=path) as site, client(site, token) as ops:
        assert ops.post("/v1/jobs", json=job("x", 2, tenant="z")).status_code == 200
        assert ops.get("/v1/state").status_code == 200
        assert ops.headers["Authorization"] != f"Bearer {TOKEN}"


def test_the_command_keeps_hashes_alone(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tokens", str(path), "--new", "research", "--days", "90"]) == 0
    line, token = capsys.readouterr().out.splitlines()
    assert Tokens(b"s", path).who(token.encode()) == tenants.Who("research", 0)
    assert token not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert main(["tokens", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [line]
    assert main(["tokens", str(path), "--remove", line.split()[0]]) == 0
    assert Tokens(b"s", path).who(token.encode()) is None
    assert main(["tokens", str(path), "--remove", "abcdef"]) == 2
    assert main(["tokens", str(path), "--new", "", "--days", "1"]) == 2


@pytest.mark.parametrize("place", ["none/tokens.json", "file/tokens.json"])
def test_a_folder_that_is_none_is_told(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / place
    assert main(["tokens", str(path), "--new", "a"]) == 2
    said = capsys.readouterr()
    assert said.out == "", "no token that nobody would take"
    assert said.err.startswith(f"error: {path}: cannot be written: ")
    assert said.err.count("\n") == 1


def test_a_file_that_is_not_there_is_made_with_the_first_token(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tokens", str(path)]) == 2
    assert f"{path}: does not exist; `planner tokens FILE --new TENANT` makes it" in capsys.readouterr().err
