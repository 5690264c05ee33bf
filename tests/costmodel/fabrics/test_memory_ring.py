"""Rings of devices and memory nodes: hops, links to memory, collectives."""

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from costmodel.fabrics.memory_ring import MemoryRing
from tests.oracles.mcdla import collective_us

NODE = {"dimm": "ddr4-2400-lrdimm-128gb", "dimms": 10, "groups": 2}


def ring(**fields: Any) -> MemoryRing:
    has_node = {"node": NODE} if fields.get("arrangement", "direct") != "direct" else {}
    base = {"devices": 8, "links": 6, "link_bandwidth": "25 GB/s", "alpha": "0.1 us"}
    return MemoryRing.model_validate(base | has_node | fields)


@pytest.mark.parametrize(
    ("arrangement", "hops", "links", "gigabytes_per_s"),
    [
        ("direct", (8, 8, 8), 0, ()),
        ("star", (8, 8, 24), 2, (50,)),
        ("folded_star", (8, 12, 20), 2, (50,)),
        ("ring", (16, 16, 16), 6, (75, 75)),
    ],
)
def test_figure_7(arrangement: str, hops: tuple[int, ...], links: int, gigabytes_per_s: tuple[int, ...]) -> None:
    found = ring(arrangement=arrangement)
    assert found.ring_hops == hops
    assert found.memory_links == links
    assert tuple(link.bandwidth_bytes_per_s / 1e9 for link in found.stores()) == gigabytes_per_s
    assert found.collective_bytes_per_s == 150e9


def test_slow_nodes_bind() -> None:
    slow = NODE | {"dimms": 5}
    assert [link.bandwidth_bytes_per_s for link in ring(arrangement="ring", node=slow).stores()] == [48e9, 48e9]


def test_ways_into_the_host() -> None:
    port = {"bandwidth": "16 GB/s", "devices": 2}
    assert [link.bandwidth_bytes_per_s for link in ring(host=port).stores()] == [8e9]
    assert [link.bandwidth_bytes_per_s for link in ring(host=port, devices=1).stores()] == [16e9]
    halved = ring(host_links=3)
    assert [link.bandwidth_bytes_per_s for link in halved.stores()] == [75e9]
    assert halved.collective_bytes_per_s == 75e9
    assert max(halved.ring_hops) == 8


@pytest.mark.parametrize(("arrangement", "hops"), [("direct", 8), ("folded_star", 20), ("ring", 16)])
@pytest.mark.parametrize("all_reduce", [False, True])
def test_collectives(arrangement: str, hops: int, all_reduce: bool) -> None:
    sizes = [1, 4096, 10**9]
    expected = [collective_us(150, size, 8, hops, 0.1, all_reduce) for size in sizes]
    found_s = ring(arrangement=arrangement).exchange_s([0, *sizes], all_reduce)
    assert found_s[0] == 0
    assert found_s[1:] * 1e6 == pytest.approx(expected, rel=1e-12)


def test_one_device_exchanges_nothing() -> None:
    assert ring(devices=1).exchange_s(np.array([1e9]), True).tolist() == [0.0]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"arrangement": "direct", "node": NODE}, "node: arrangement 'direct' has one"),
        ({"arrangement": "ring", "node": None}, "node: arrangement 'ring' lacks one"),
        ({"host_links": 6}, r"host_links \(6\) must leave links \(6\)"),
        ({"arrangement": "folded_star", "links": 3}, "needs 2 rings of 1"),
        ({"devices": 10**8}, "less than or equal to 4096"),
        ({"links": 10**8}, "less than or equal to 4096"),
        ({"arrangement": "folded_star", "devices": 7}, r"devices \(7\) must be even"),
    ],
)
def test_impossible_rings(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ring(**fields)
