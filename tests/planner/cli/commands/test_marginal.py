"""`planner marginal`: also where little can be more there is an upgrade."""

import signal
from pathlib import Path
from typing import Any

import pytest

from planner.pipeline import solve
from tests.fabrics import FABRICS
from tests.planner.cli.conftest import Planner, planner  # noqa: F401
from tests.planner.fabrics.all_fabrics_cases import instance


def test_where_little_can_be_more_there_is_still_an_upgrade(planner: Planner, tmp_path: Path) -> None:  # noqa: F811
    fixed = {"servers": 1, "tiles_per_server": 32, "fibers": [], "max_peers": 8, "reconfiguration": 0}
    path = tmp_path / "one.json"
    given = instance(FABRICS["lightpath"] | fixed, 4)
    path.write_text(given.model_dump_json(by_alias=True, exclude_none=True), "utf-8")
    outcome = planner("marginal", path, "--time-limit", 1)
    assert outcome.code == 0
    assert "twice the bandwidth of a wavelength" in outcome.out


def test_ctrl_c_keeps_the_answers_that_are_there(
    planner: Planner,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "tree.json"
    path.write_text(instance(FABRICS["fat_tree"], 4).model_dump_json(by_alias=True, exclude_none=True), "utf-8")
    whole = planner("marginal", path, "--json").document

    def solve_and_press(*given: Any, **limits: Any) -> Any:
        found = solve(*given, **limits)
        solved.append(1)
        if len(solved) == 2:
            signal.raise_signal(signal.SIGINT)
        return found

    solved = list[int]()
    monkeypatch.setattr("planner.explain.marginal.solve", solve_and_press)
    stopped = planner("marginal", path, "--json")
    assert stopped.code == 130
    assert len(stopped.document) == 1
    assert stopped.document[0] in whole
    assert f"stopped: 1 of {len(whole)} changes are answered" in stopped.err
