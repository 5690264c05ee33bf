"""Shared by the tests of `all_fabrics` and `marginal`."""

from typing import Any

from planner.model.instance import Instance
from tests.planner.cli.conftest import Planner, planner  # noqa: F401
from tests.planner.simulate.grounds import BERT


def instance(fabric: dict[str, Any], *sizes: int) -> Instance:
    jobs = [{"name": f"j{i}", "workload": BERT, "accelerators": size} for i, size in enumerate(sizes)]
    cluster = {"device": "h100-sxm", "fabric": fabric}
    return Instance.parse({"schema_version": 2, "name": "any", "cluster": cluster, "jobs": jobs})
