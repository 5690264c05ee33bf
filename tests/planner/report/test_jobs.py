"""Jobs of the page, with what the model says of each."""

import dataclasses

from planner.model.plan import Plan
from planner.report.jobs import _written
from tests.planner.report import rack
from tests.planner.report.data_cases import made_data


def test_a_configuration_that_the_model_rejects_is_named() -> None:
    bad = rack.plan().model_dump()
    bad["assignments"][0]["configuration"]["tensor_collective"]["wavelengths"] = [7]
    plan = Plan.model_validate(bad)
    job = made_data(dataclasses.replace(rack.result(), plan=plan))["jobs"][0]["plan"]
    assert job["time_s"] is None
    assert "tensor_collective" in job["problem"]


def test_a_field_with_parts_is_told_in_words() -> None:
    assert _written({"data": 0.0, "pipeline_depth": (1, 2)}) == "data 0, pipeline depth 1 or 2"
