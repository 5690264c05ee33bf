"""A job of a running service gets more accelerators, and gives some back: in words, as JSON, and refused."""

import json
from pathlib import Path

import pytest

from planner.cli import main
from tests.planner.controller.sites import controller
from tests.planner.service.running import TOKEN, job, running


def test_a_job_grows_and_shrinks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n", encoding="utf-8")
    for size in (2, 4, 6, 8, 64):
        (tmp_path / f"{size}.json").write_text(json.dumps(job("it", size)), encoding="utf-8")
    with running(controller("fat_tree", servers=1)) as site:
        given = ["--url", str(site.client.base_url), "--token-file", str(tmp_path / "token")]
        site.submit("it", 4)
        first = site.controller.running["it"].device_names
        assert main(["grow", str(tmp_path / "6.json"), *given]) == 0
        held = site.controller.running["it"].device_names
        assert held[:4] == first
        said = capsys.readouterr().out.splitlines()
        assert said == ["it goes on with 6 accelerators", f"new: {held[4]}, {held[5]}"]
        assert main(["grow", str(tmp_path / "4.json"), *given]) == 2
        assert "asks for no more; give a larger number" in " ".join(capsys.readouterr().err.split())
        site.submit("other", 1)
        assert main(["grow", str(tmp_path / "8.json"), *given]) == 2
        capsys.readouterr()
        assert main(["grow", str(tmp_path / "8.json"), *given, "--wait"]) == 0
        assert capsys.readouterr().out.startswith("it waits (room): needs 2 accelerators more")
        assert main(["grow", str(tmp_path / "6.json"), *given]) == 0
        assert capsys.readouterr().out == "it goes on as it is\n"
        assert main(["grow", str(tmp_path / "64.json"), *given]) == 2
        assert "64" in capsys.readouterr().err
        assert main(["shrink", str(tmp_path / "4.json"), "--keep", "s0.g0", *given]) == 2
        assert "name those that it keeps" in " ".join(capsys.readouterr().err.split())
        assert site.controller.running["it"].device_names == held
        assert main(["shrink", str(tmp_path / "2.json"), "--keep", f"{held[1]}, {held[4]}", *given, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["decisions"][0]["devices"] == [held[1], held[4]]
        assert site.controller.running["it"].device_names == (held[1], held[4])
