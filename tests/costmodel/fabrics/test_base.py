"""Names of servers and accelerators, there and back."""

import pytest

from costmodel.fabrics.base import FabricBase
from tests.costmodel.fabrics.lightpath_cases import fat_tree, lightpath


@pytest.mark.parametrize("fabric", [lightpath(), lightpath(racks=3), fat_tree(), fat_tree(racks=2)])
def test_names_there_and_back(fabric: FabricBase) -> None:
    names = set()
    for server in range(fabric.num_servers):
        assert fabric.parse_server(fabric.server_name(server)) == server
        assert fabric.rack_of(server) == server // fabric.servers
        for slot in range(fabric.devices_per_server):
            name = fabric.device_name(server, slot)
            assert fabric.parse_device(name) == (server, slot)
            names.add(name)
    assert len(names) == fabric.num_devices


@pytest.mark.parametrize("name", ["s2", "s00", "S0", "r0.s0", "s-1", "", "s0 ", "s0.t0", "s\N{ARABIC-INDIC DIGIT ONE}"])
def test_wrong_server_names(name: str) -> None:
    with pytest.raises(ValueError, match="servers are s0 to s1"):
        lightpath().parse_server(name)


@pytest.mark.parametrize("name", ["s0.t4", "s0.g0", "s0.t00", "s0", "s0.t-1", "s0.t0 "])
def test_wrong_device_names(name: str) -> None:
    with pytest.raises(ValueError, match=r"accelerators are s0\.t0 to s1\.t3"):
        lightpath().parse_device(name)


def test_names_with_racks_name_the_rack() -> None:
    fabric = lightpath(racks=2)
    assert fabric.device_name(3, 1) == "r1.s1.t1"
    with pytest.raises(ValueError, match=r"servers are r0\.s0 to r1\.s1"):
        fabric.parse_server("s0")
