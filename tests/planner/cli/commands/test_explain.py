"""`planner explain` and `planner marginal` as JSON."""

from pathlib import Path

import pytest

from tests.planner.cli.conftest import Planner


@pytest.mark.slow
def test_explain_and_marginal_print_json(planner: Planner, instance: Path, plan: Path) -> None:
    explained = planner("explain", instance, "big", "--plan", plan, "--time-limit", 2, "--threads", 1, "--json")
    assert explained.code == 0
    assert explained.document["job"] == "big"
    assert explained.document["tag"] == "admitted"
    gains = planner("marginal", instance, "--time-limit", 2, "--threads", 1, "--json")
    assert gains.code == 0
    assert all({"change", "gain", "status"} <= each.keys() for each in gains.document)
