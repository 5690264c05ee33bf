"""Calls of a service: its answer, its faults in words, and one error where nobody answers."""

from datetime import date
from pathlib import Path

import pytest

from planner.cli.service_call import call
from planner.model.errors import InputError
from tests.planner.service.running import TOKEN, running


def test_answers_and_faults_are_told(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n", encoding="utf-8")
    with running() as site:
        url = str(site.client.base_url)
        assert call("/v1/jobs", url, tmp_path / "token", None, 10.0)["total"] == 0
        with pytest.raises(InputError, match="token"):
            call("/v1/jobs", url, None, None, 10.0)
        with pytest.raises(InputError, match="job"):
            call("/v1/grow", url, tmp_path / "token", {"job": {"name": date(2024, 1, 1)}}, 10.0)
    with pytest.raises(InputError, match="does not answer"):
        call("/v1/jobs", url, tmp_path / "token", None, 10.0)
