"""Shared by the tests of `jobs_table`, `phase_settings` and `server_pool`."""

from functools import lru_cache
from typing import Any

from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import SolveOptions, Status
from planner.pipeline import solve
from tests.paths import ROOT

OPTIONS = SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=20.0)
FILE = ROOT / "instances" / "sipam" / "phases.yaml"


def with_one_setting(instance: Instance) -> Instance:
    data: dict[str, Any] = instance.model_dump(mode="json")
    for job in data["jobs"]:
        job["constraints"]["one_setting"] = True
    return Instance.parse(data)


@lru_cache(maxsize=1)
def planned() -> tuple[Instance, Plan]:
    instance = Instance.load(FILE)
    result = solve(instance, options=OPTIONS)
    assert result.status is Status.OPTIMAL
    assert result.plan is not None
    return instance, result.plan
