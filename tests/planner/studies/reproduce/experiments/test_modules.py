"""Modules of optical memory have the arithmetic of the paper."""

import pytest

from costmodel.catalog import documents
from planner.studies.reproduce.experiments import modules
from tests.planner.studies.reproduce.experiments.inference import outcome


def test_the_specification_contradicts_the_evaluation() -> None:
    rows = outcome("photonic_fabric", "modules").rows
    contradicted = {row.quantity: (row.published, row.ours) for row in rows if row.verdict == "contradicted"}
    assert contradicted["ports for evaluated rate"] == (16, 30)
    assert contradicted["switching rate"] == (26.8, pytest.approx(14.4))
    assert {row.verdict for row in rows} == {"by construction", "contradicted"}


def test_every_module_of_the_catalog_has_its_arithmetic() -> None:
    for name, content in documents().items():
        if content.get("kind") in modules.QUANTITIES:
            assert all(value > 0 for value in modules.compute(modules.Inputs(part=name)).values())
