"""A service is asked which jobs should move, and does what is accepted."""

import json
import re
from pathlib import Path

import pytest

from planner.cli import main
from tests.planner.service.running import TOKEN, running


def test_a_proposal_is_printed_and_carried_out_when_it_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n", encoding="utf-8")
    with running() as site:
        given = ["defrag", "--url", str(site.client.base_url), "--token-file", str(tmp_path / "token")]
        assert main(given) == 0
        assert "no moves pay" in capsys.readouterr().out
        for server in range(2):
            site.submit(f"keep{server}", 2)
            site.submit(f"gone{server}", 6)
        for server in range(2):
            site.client.post(f"/v1/jobs/gone{server}/finish").raise_for_status()
        seq = site.service.seq
        assert main(given) == 0
        said = capsys.readouterr().out
        assert "once this job moves" in said
        assert site.service.seq == seq, "nothing was decided"
        assert main([*given, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["proposal"] == re.search(r"--apply (\S+)", said)[1]  # type: ignore[index]
        assert found["gain_s"] > found["cost_s"] > 0
        assert main([*given, "--apply", found["proposal"]]) == 0
        assert f"moved: {found['moves'][0]['job']}" in capsys.readouterr().out
        assert main([*given, "--apply", found["proposal"]]) == 2
        assert "ask for a new one" in " ".join(capsys.readouterr().err.split())
