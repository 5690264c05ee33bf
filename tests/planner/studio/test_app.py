"""The studio over HTTP: every question of the page, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner.report.studio import studio_html
from tests.planner.studio.served import GOLDEN, client, ended, session_of


def _events(text: str) -> list[tuple[str, Any]]:
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if line)
        if "event" in lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


@pytest.mark.slow
def test_from_edit_to_save(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    with client(session) as asking:
        assert asking.get("/").text == studio_html()
        assert asking.get("/").headers["content-security-policy"].startswith("frame-ancestors 'none'")
        state = asking.get("/api/state").json()
        assert (state["text"], state["path"], state["error"]) == (GOLDEN, str(session.path), None)
        assert "cpsat" in state["policies"]
        assert asking.get("/api/progress").status_code == 404
        draft = asking.post(
            "/api/field", json={"text": GOLDEN, "path": ["jobs", 1, "weight"], "value": "9"}
        ).json()  # fmt: skip
        text = draft["text"]
        assert draft["form"]["jobs"][1]["weight"] == "9"
        lines = asking.post("/api/job/lines", json={"text": text, "number": 0}).json()["block"]
        more = asking.post("/api/job", json={"text": text, "block": lines.replace("four", "more")}).json()
        assert [job["name"] for job in more["form"]["jobs"]] == ["four", "three", "more"]
        assert asking.post("/api/job", json={"text": more["text"], "number": 2}).json()["text"] == text
        failed = asking.post("/api/fail", json={"text": text, "names": ["s0.t0"]}).json()
        assert failed["form"]["failed"] == ["s0.t0"]
        assert asking.post("/api/mend", json={"text": failed["text"], "name": "s0.t0"}).json()["text"] == text

        begun = asking.post("/api/solve", json={"text": text, "time_limit_s": 30})
        assert begun.status_code == 202
        *points, (last, outcome) = _events(asking.get("/api/progress").text)
        assert (last, outcome) == ("ended", ended(session))
        assert {name for name, _ in points} == {"points"}
        assert max(point["objective"] for _, each in points for point in each if point["level"] == "value") == 9.0
        number = outcome["variant"]
        plan = asking.get(f"/plans/{number}.html")
        assert "0 violations" in plan.text
        assert plan.headers["content-security-policy"].startswith("frame-ancestors 'self'")
        kept = asking.post("/api/keep", json={"variant": number, "name": "base"}).json()
        assert (kept[0]["name"], kept[0]["value"], kept[0]["admitted"]) == ("base", 9.0, 1)
        assert kept[0]["digest"] == asking.post("/api/text", json={"text": text}).json()["digest"]

        lost = session.variants[number].result.plan.assignments[0].devices[0]  # type: ignore[union-attr]
        assert asking.post("/api/repair", json={"variant": number, "names": [lost]}).status_code == 202
        mended = ended(session)["variant"]
        assert '"plans":["base","base, ' in asking.get(f"/plans/{number}/{mended}.html").text
        assert asking.get("/api/variants").json()[1]["repair"]["moves"]
        assert asking.post("/api/edit", json={"variant": mended}).json()["form"]["failed"] == [lost]
        assert [each["number"] for each in asking.post("/api/drop", json={"variant": mended}).json()] == [number]

        saved = asking.post("/api/save", json={"text": text, "path": str(session.path)})
        assert saved.json() == {"path": str(session.path)}
        session.path.write_text("name: other\n")
        conflict = asking.post("/api/save", json={"text": GOLDEN, "path": str(session.path)})
        assert conflict.status_code == 409
        assert "has changed on disk" in conflict.json()["problem"]
        assert session.path.read_text() == "name: other\n"
        again = {"text": GOLDEN, "path": str(session.path), "replaces": conflict.json()["digest"]}
        assert asking.post("/api/save", json=again).status_code == 200
        assert asking.post("/api/open", json={}).json()["text"] == GOLDEN

        mine = {"path": str(session.path), "text": GOLDEN + "# mine\n", "saved": GOLDEN}
        assert asking.post("/api/save", json=mine).status_code == 200
        theirs = mine | {"text": GOLDEN + "# of another tab\n"}
        overtaken = asking.post("/api/save", json=theirs)
        assert (overtaken.status_code, "in another tab" in overtaken.json()["problem"]) == (409, True)
        assert session.path.read_text().endswith("# mine\n")
        replaced = theirs | {"replaces": overtaken.json()["digest"]}
        assert asking.post("/api/save", json=replaced).status_code == 200


@pytest.mark.parametrize(
    "text", ["a: &a [*a]", "cluster: {health: {failed_tiles: 3}}", "cluster: none", "[]", "name: \0"]
)
def test_a_text_that_is_no_instance_is_shown_with_what_is_wrong(tmp_path: Path, text: str) -> None:
    with client(session_of(tmp_path)) as asking:
        draft = asking.post("/api/text", json={"text": text}).json()
        assert (draft["text"], bool(draft["error"]["problem"])) == (text, True)
        assert asking.post("/api/mend", json={"text": text, "name": "s0.t0"}).status_code in (200, 422)
        half = b'{"text": "name: \\ud800"}'
        assert asking.post("/api/text", content=half, headers={"Content-Type": "application/json"}).status_code == 422


@pytest.mark.slow
def test_what_is_wrong_is_said_in_one_form(tmp_path: Path) -> None:
    with client(session_of(tmp_path)) as asking:
        for path, body, status in (
            ("/api/solve", {"text": "name: x"}, 422),
            ("/api/solve", {"text": GOLDEN, "policy": "guess"}, 422),
            ("/api/solve", {"text": GOLDEN, "time_limit_s": -1}, 422),
            ("/api/solve", {}, 422),
            ("/api/field", {"text": GOLDEN, "path": ["jobs", 0, "weight"], "value": "["}, 422),
            ("/api/job", {"text": GOLDEN}, 422),
            ("/api/repair", {"variant": 3, "names": ["s0.t0"]}, 404),
            ("/api/keep", {"variant": 3, "name": "x"}, 404),
            ("/api/fail", {"text": GOLDEN, "names": ["s7.t0"]}, 422),
            ("/api/save", {"text": GOLDEN, "path": str(tmp_path / "a.txt")}, 422),
            ("/api/save", {"text": GOLDEN, "path": f"{tmp_path}/a\0.yaml"}, 422),
        ):  # fmt: skip
            answer = asking.post(path, json=body)
            assert (answer.status_code, {*answer.json()}) == (status, {"where", "field", "problem"}), path
        assert asking.get("/plans/1.html").status_code == 404
        assert asking.post("/api/stop", json={}).json() == {}
        asking.cookies.clear()
        assert asking.get("/api/state").status_code == 403
        assert "planner studio" in asking.get("/").text
