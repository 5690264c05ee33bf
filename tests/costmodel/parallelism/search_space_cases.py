"""Shared by the tests of `search_space` and `training_spec`."""

from typing import Any

from costmodel.workloads import TransformerTraining


def training(**fields: Any) -> TransformerTraining:
    return TransformerTraining.model_validate({"model": "gpt3-22b", "global_batch": 48, "sequence": 2048} | fields)
