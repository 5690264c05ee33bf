"""Asking a service before a job is submitted: answers in words, exit codes, one line where nobody answers."""

import json
from pathlib import Path

import pytest

from planner.cli import main
from planner.cli.commands.ask import lines_of
from tests.planner.service.running import TOKEN, job, running


def test_a_service_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n", encoding="utf-8")
    for name, size in (("small", 4), ("large", 32)):
        (tmp_path / f"{name}.json").write_text(json.dumps(job(name, size)), encoding="utf-8")
    with running() as site:
        given = ["--url", str(site.client.base_url), "--token-file", str(tmp_path / "token")]
        assert main(["ask", str(tmp_path / "large.json"), *given]) == 0
        assert "starts now on s0." in capsys.readouterr().out
        site.submit("other", 8)
        seq = site.service.seq
        assert main(["ask", str(tmp_path / "large.json"), *given, "--proof", "5"]) == 1
        said = capsys.readouterr().out
        assert "waits (room): 32 accelerators are needed and 24 are free" in said
        assert "does not fit beside this plan" in said
        assert main(["ask", str(tmp_path / "small.json"), *given, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["proof"] is None
        assert site.service.seq == seq, "nothing was decided"
        assert site.get("/v1/jobs")["total"] == 1
        (tmp_path / "huge.json").write_text(json.dumps(job("huge", 4096)), encoding="utf-8")
        assert main(["ask", str(tmp_path / "huge.json"), *given]) == 2
        assert "4,096" in capsys.readouterr().err
        (tmp_path / "wrong.json").write_text(json.dumps(job("wrong", 4) | {"acelerators": 4}), encoding="utf-8")
        assert main(["ask", str(tmp_path / "wrong.json"), *given]) == 2
        assert capsys.readouterr().err.startswith(f"error: {tmp_path / 'wrong.json'}: acelerators: ")
        assert main(["ask", str(tmp_path / "small.json"), *given[:2]]) == 2
        assert "token" in capsys.readouterr().err


def test_nobody_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "j.json").write_text(json.dumps(job("j", 4)), encoding="utf-8")
    assert main(["ask", str(tmp_path / "j.json"), "--url", "http://127.0.0.1:1"]) == 2
    assert "does not answer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--url", "localhost:8642"],
            "--url: localhost:8642: begins with neither http:// nor https://; write http://lo",
        ),
        (["--token-file", "."], "error: .: is a directory; name a file with a token in it"),
    ],
)
def test_what_cannot_be_asked_with_is_named(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "j.json").write_text(json.dumps(job("j", 4)), encoding="utf-8")
    assert main(["ask", str(tmp_path / "j.json"), *options]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("keep", "said"), [("", "'': has an empty name"), ("s0.t0,,s0.t1", "has an empty name"), ("a, b,a", "names a more")]
)
def test_names_of_a_smaller_job_are_each_given_once(
    keep: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "j.json").write_text(json.dumps(job("j", 4)), encoding="utf-8")
    assert main(["shrink", str(tmp_path / "j.json"), "--keep", keep]) == 2
    assert said in capsys.readouterr().err


def test_what_was_not_found_out_in_time_is_no_wait() -> None:
    found = {
        "starts": False, "devices": None, "ahead": 0, "earliest_s": None, "most_together": 8, "proof": None,
        "waits_for": {"tag": "time", "because": "4 accelerators are needed and 8 are free; not found out in 100 ms"},
    }  # fmt: skip
    first = "not known yet: 4 accelerators are needed and 8 are free; not found out in 100 ms; ask again, or submit it"
    assert lines_of(found) == [first, "8 accelerators are free for one job"]
