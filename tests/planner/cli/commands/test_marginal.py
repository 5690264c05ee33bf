"""`planner marginal`: also where little can be more there is an upgrade."""

from pathlib import Path

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
