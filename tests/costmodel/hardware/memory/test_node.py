"""Memory nodes from their DIMMs."""

import pytest
from pydantic import ValidationError

from costmodel.hardware.memory.node import MemoryNode, dimm_names, load_dimm


def test_table_4_of_the_paper() -> None:
    nodes = [MemoryNode(dimm=load_dimm(name), dimms=10) for name in dimm_names()]
    assert [round(node.power_w, 9) for node in nodes] == [29, 66, 87, 102, 127]
    assert [round(node.capacity_bytes / node.power_w / 1e9, 1) for node in nodes] == [2.8, 2.4, 3.7, 6.3, 10.1]
    assert [node.capacity_bytes / 1e9 for node in nodes] == [80, 160, 320, 640, 1280]


def test_groups_divide_a_node() -> None:
    whole = MemoryNode.model_validate({"dimm": "ddr4-2400-rdimm-8gb", "dimms": 10})
    halves = whole.model_copy(update={"groups": 2, "dimm_bandwidth_bytes_per_s": 25.6e9})
    assert whole.bandwidth_bytes_per_s == pytest.approx(192e9)
    assert halves.group_bytes_per_s == pytest.approx(128e9)


def test_an_unknown_dimm() -> None:
    with pytest.raises(ValidationError, match="unknown dimm 'ddr4-2400-rdimm-9gb'; did you mean"):
        MemoryNode.model_validate({"dimm": "ddr4-2400-rdimm-9gb", "dimms": 10})
