"""Recurrent layers, unrolled."""

import pytest

from costmodel.dataflow.networks.node import total_macs
from costmodel.dataflow.networks.recurrent import RecurrentLayer


@pytest.mark.parametrize(("cell", "gates"), [("vanilla", 1), ("lstm", 4), ("gru", 3)])
@pytest.mark.parametrize("widths", [1, 2])
def test_sizes(cell: str, gates: int, widths: int) -> None:
    layer = RecurrentLayer.model_validate({"cell": cell, "hidden": 100, "steps": 7, "input_widths": widths})
    assert total_macs(layer.nodes) == 7 * gates * 100 * 100 * widths
    assert len(layer.nodes) == 14
    assert {node.weight_name for node in layer.nodes if node.is_matrix} == {"recurrent"}
    assert all(node.inputs == (i - 1,) for i, node in enumerate(layer.nodes) if i)
    assert layer.nodes[-1].output_elements == 100
