"""Events over HTTP: what is answered, what is refused, and that each happens once."""

from typing import Any

import httpx
import pytest

from tests.planner.service.running import Running, job


def kinds(answer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(decision["d"], decision["job"]) for decision in answer["decisions"]]


def refused(response: httpx.Response, status: int) -> str:
    assert response.status_code == status, response.text
    assert set(response.json()) == {"where", "field", "problem"}
    problem: str = response.json()["problem"]
    return problem


@pytest.mark.slow
def test_a_job_starts_with_accelerators_and_circuits_and_ends(site: Running) -> None:
    answer = site.submit("a", 16)
    assert kinds(answer) == [("start", "a")]
    (start,) = answer["decisions"]
    place = site.controller.running["a"]
    assert start["devices"] == list(place.device_names)
    assert start["circuits"] == [held.model_dump(mode="json", by_alias=True) for held in place.circuits]
    assert start["place"] == place.body()
    assert answer["seq"] == 1
    answer = site.client.post("/v1/jobs/a/finish").json()
    assert kinds(answer) == [("stop", "a")]
    assert answer["decisions"][0]["gives_back"] == start["devices"]
    assert site.controller.running == {}


@pytest.mark.slow
def test_a_name_with_slashes_is_a_name(site: Running) -> None:
    for name in ("team/one", "a/finish", "b$(x) 'q'\"%"):
        site.submit(name)
        quoted = name.replace("%", "%25").replace(" ", "%20").replace('"', "%22")
        assert site.client.get(f"/v1/jobs/{quoted}").json()["name"] == name
        assert kinds(site.client.delete(f"/v1/jobs/{quoted}").json()) == [("stop", name)]


@pytest.mark.slow
def test_jobs_that_arrive_together_are_one_event(site: Running) -> None:
    answer = site.client.post("/v1/jobs", json={"jobs": [job("a", 8), job("b", 8), job("c", 32)]}).json()
    assert answer["seq"] == 1
    assert ("start", "a") in kinds(answer)
    assert ("wait", "c") in kinds(answer)


def test_the_same_key_is_the_same_answer_and_nothing_twice(site: Running) -> None:
    headers = {"Idempotency-Key": "k1"}
    first = site.client.post("/v1/jobs", json=job("a", 4), headers=headers).json()
    site.client.delete("/v1/jobs/a")
    again = site.client.post("/v1/jobs", json=job("a", 4), headers=headers)
    assert again.json()["decisions"] == first["decisions"]
    assert site.controller.running == {}
    refused(site.client.post("/v1/jobs", json=job("b", 4), headers=headers), 409)
    refused(site.client.delete("/v1/jobs/a", headers=headers), 409)
    assert site.controller.seq == 2
    for key in ("", "a b", "x" * 201):
        refused(site.client.delete("/v1/jobs/a", headers={"Idempotency-Key": key}), 422)


def test_the_same_job_again_does_what_it_does(site: Running) -> None:
    first = site.submit("a", 4)
    assert site.submit("a", 4) == first
    assert "other content" in refused(site.client.post("/v1/jobs", json=job("a", 2)), 409)


def test_what_is_not_here_is_unknown(site: Running) -> None:
    for method, path in (
        ("GET", "/v1/jobs/a"),
        ("DELETE", "/v1/jobs/a"),
        ("POST", "/v1/jobs/a/finish"),
        ("POST", "/v1/parts/s9.t0/fail"),
        ("POST", "/v1/parts/nothing/fail"),
        ("POST", "/v1/servers/s9/drain"),
        ("GET", "/v1/nothing"),
        ("POST", "/v1/jobs/"),
    ):
        refused(site.client.request(method, path), 405 if path == "/v1/jobs/" else 404)
    response = site.client.put("/v1/jobs", json={})
    refused(response, 405)
    assert "POST" in response.headers["allow"]
    assert site.controller.seq == 0


@pytest.mark.slow
def test_what_cannot_be_now_is_a_conflict(site: Running) -> None:
    site.submit("a", 32)
    site.submit("b", 8)
    assert "cancel it" in refused(site.client.post("/v1/jobs/b/finish"), 409)
    refused(site.client.post("/v1/parts/s0.t1/repair"), 409)
    refused(site.client.post("/v1/servers/s0/undrain"), 409)


def test_a_broken_part_moves_its_job_and_a_repaired_one_is_used_again(site: Running) -> None:
    site.submit("a", 8)
    part = site.controller.running["a"].device_names[0]
    answer = site.client.post(f"/v1/parts/{part}/fail").json()
    assert kinds(answer) == [("move", "a")]
    (move,) = answer["decisions"]
    assert part in move["gives_back"]
    assert part not in move["devices"]
    assert site.client.post(f"/v1/parts/{part}/fail").json()["decisions"] == []
    assert site.client.post("/v1/parts/s3%3Es2%230/fail").status_code == 200
    assert site.controller.down == (part, "s3>s2#0")
    for name in (part, "s3%3Es2%230"):
        assert site.client.post(f"/v1/parts/{name}/repair").status_code == 200
    assert site.controller.down == ()


def test_a_drained_server_is_left_and_taken_again(site: Running) -> None:
    site.submit("a", 8)
    server = site.controller.running["a"].device_names[0].split(".")[0]
    assert kinds(site.client.post(f"/v1/servers/{server}/drain").json()) == [("move", "a")]
    assert site.client.post(f"/v1/servers/{server}/undrain").status_code == 200
    assert site.controller.down == ()


def test_looking_again_takes_a_bounded_time(site: Running) -> None:
    assert site.client.post("/v1/replan").json() == {"seq": 0, "decisions": []}
    assert site.client.post("/v1/replan", json={"budget": 0.1}).status_code == 200
    for body in ({"budget": 1e9}, {"budget": -1}, {"more": 1}, [], 3):
        refused(site.client.post("/v1/replan", json=body), 422)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "a\nb"}, "name"),
        ({"name": "a\u0007"}, "name"),
        ({"name": "../a"}, "name"),
        ({"tenant": "x\ty"}, "tenant"),
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"acelerators": 3}, "acelerators"),
        ({"accelerators": 0}, "accelerators"),
        ({"accelerators": 4.5}, "accelerators"),
        ({"accelerators": "4; rm"}, "accelerators"),
        ({"workload": {"kind": "nothing"}}, "workload"),
        ({"duration": "1 parsec"}, "duration"),
        ({"priority": 10**12}, "priority"),
    ],
)
def test_a_job_that_cannot_be_names_the_field(site: Running, changes: dict[str, Any], field: str) -> None:
    response = site.client.post("/v1/jobs", json=job("a") | changes)
    refused(response, 422)
    assert response.json()["where"] == "body"
    assert field in response.json()["field"]


def test_a_job_that_can_never_run_is_refused(site: Running) -> None:
    assert "a rack has 32" in refused(site.client.post("/v1/jobs", json=job("a", 33)), 422)
    refused(site.client.post("/v1/jobs", json={"jobs": []}), 422)
    refused(site.client.post("/v1/jobs", json={"jobs": [job("a"), job("a")]}), 422)
    refused(site.client.post("/v1/jobs"), 422)
    assert site.controller.seq == 0


def test_jobs_grow_and_shrink_once(site: Running) -> None:
    site.submit("a", 1)
    assert kinds(site.client.post("/v1/grow", json=job("a", 4), headers={"Idempotency-Key": "g"}).json())
    held = site.controller.running["a"].device_names
    assert len(held) == 4
    assert "asks for no more" in refused(site.client.post("/v1/grow", json=job("a", 4)), 422)
    assert "differs in more" in refused(site.client.post("/v1/grow", json=job("a", 8, priority=3)), 409)
    assert "no job 'none' waits or runs" in refused(site.client.post("/v1/grow", json=job("none", 8)), 404)
    assert refused(site.client.post("/v1/grow", json={"jobs": [job("a", 8)]}), 422)
    smaller = {"job": job("a", 1), "kept": [held[2]]}
    assert kinds(site.client.post("/v1/shrink", json=smaller).json()) == [("move", "a")]
    assert site.controller.running["a"].device_names == (held[2],)
    assert refused(site.client.post("/v1/shrink", json={"job": job("a", 1), "kept": []}), 422)
    again = site.client.post("/v1/grow", json=job("a", 4), headers={"Idempotency-Key": "g"})
    assert kinds(again.json()) == [("move", "a")]
    assert site.controller.running["a"].device_names == (held[2],)


def test_a_job_waits_in_the_queue_to_grow(site: Running) -> None:
    """Its growth is told beside its place, by the metrics too, and it waits no more where it asks for what it has."""
    site.submit("a", 2)
    site.submit("b", 30)
    assert refused(site.client.post("/v1/grow", json=job("a", 4)), 409)
    assert kinds(site.client.post("/v1/grow?wait=true", json=job("a", 4)).json())[0] == ("wait", "a")
    told = site.client.get("/v1/jobs/a").json()
    assert (told["state"], told["accelerators"], told["waits_for"]) == ("running", 2, None)
    assert (told["growth"]["accelerators"], told["growth"]["waits_for"]["tag"]) == (4, "room")
    assert site.client.get("/v1/jobs?state=waiting").json()["total"] == 0
    assert "photonplan_growing_jobs 1.0" in site.client.get("/metrics").text
    [row] = [each for each in site.client.get("/v1/floor").json()["jobs"] if each["name"] == "a"]
    assert (row["growth"]["least"], row["growth"]["tag"]) == (4, "room")
    assert site.client.post("/v1/grow", json=job("a", 2)).status_code == 200
    assert site.client.get("/v1/jobs/a").json()["growth"] is None
    assert refused(site.client.post("/v1/grow?wait=perhaps", json=job("a", 4)), 422)


def test_a_question_is_about_one_job(site: Running) -> None:
    assert refused(site.client.post("/v1/ask", json={"jobs": [job("a", 1), job("b", 1)]}), 422)
