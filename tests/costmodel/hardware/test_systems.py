"""Systems are found by their device."""

import pytest

from costmodel.fabrics import fat_tree_of
from costmodel.hardware.systems import load_system, system_of


def test_systems_are_found_by_their_device() -> None:
    assert system_of("b200").name == "dgx-b200"
    fabric = fat_tree_of(load_system("dgx-h100"), 12)
    assert (fabric.num_servers, fabric.devices_per_server) == (2, 8)
    with pytest.raises(ValueError, match=r"known: .*h100-sxm"):
        system_of("tpu-v4")
