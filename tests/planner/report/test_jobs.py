"""Jobs of the page, with what the model says of each."""

import dataclasses

from planner.model.plan import Plan
from tests.planner.report import rack
from tests.planner.report.data_cases import made_data


def test_a_configuration_that_the_model_rejects_is_named() -> None:
    bad = rack.plan().model_dump()
    bad["assignments"][0]["configuration"]["tensor_collective"]["wavelengths"] = [7]
    plan = Plan.model_validate(bad)
    job = made_data(dataclasses.replace(rack.result(), plan=plan))["jobs"][0]["plan"]
    assert job["time_s"] is None
    assert "tensor_collective" in job["problem"]
