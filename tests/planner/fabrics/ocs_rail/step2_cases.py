"""Shared by the tests of `constraints` and `step2`."""

from typing import Any

from planner.model.instance import Instance
from tests.planner.fabrics.ocs_rail.test_rule_rails import RAILS


def instance_of(
    jobs: list[dict[str, Any]], *, health: dict[str, Any] | None = None, objectives: Any = ("value",), **fabric: Any
) -> Instance:
    cluster = {"device": "h100-sxm", "fabric": RAILS | fabric, "health": health or {}}
    data = {"schema_version": 1, "name": "rails", "cluster": cluster, "jobs": jobs, "objectives": list(objectives)}
    return Instance.parse(data)
