"""Layouts of degrees: what blocks tear, and once for all fabrics with the same servers."""

from itertools import product

import pytest

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import load_device
from costmodel.parallelism.degrees import RANK_ORDERS
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.layouts import LaidDegrees, ListedBlocks, laid_degrees, layouts
from tests.costmodel.fabrics.sipam_cases import fabric

ANYWHERE = ListedBlocks(one_server=False, per_server=None)
KEYS = [
    ((tensor, pipeline, data, 1, 1, 0, 0, 0), tensor * pipeline * data)
    for tensor, pipeline, data in product((1, 2, 4), (1, 2), (1, 2, 6))
]


def laid(on: FabricBase, key: tuple[tuple[int, ...], int], blocks: ListedBlocks = ANYWHERE) -> LaidDegrees:
    return layouts(on, blocks, RANK_ORDERS[:1], None)(key)


@pytest.mark.parametrize("key", KEYS)
def test_groups_lie_in_servers_as_their_ranks_do(key: tuple[tuple[int, ...], int]) -> None:
    degrees, found = laid_degrees(key[0]), laid(fabric(), key)
    assert len({layout.block for layout in found.layouts}) == len(found.layouts)
    for layout in found.layouts:
        assert key[1] % layout.block == 0
        for axis, dimension in enumerate(DIMENSIONS):
            servers = degrees.groups(dimension) // layout.block
            is_inside = bool((servers == servers[:, :1]).all())
            assert found.ranks[axis] == servers.shape[1]
            assert is_inside or not layout.inside[axis], "said to be in one server, and torn"


def test_shares_of_a_fabric_have_one_set_of_layouts_and_other_fabrics_their_own() -> None:
    pool, key = fabric(), KEYS[2]
    shares = [split.fabric for split in pool.splits(load_device("h100-sxm"))]
    assert len({share.model_dump_json() for share in shares}) > 1
    assert len({id(laid(share, key)) for share in shares}) == 1
    small = fabric(accelerators_per_server=2, tray_ports=8)
    blocks = {layout.block for layout in laid(small, key).layouts}
    assert blocks
    assert max(blocks) <= 2 < max(layout.block for layout in laid(pool, key).layouts)


def test_a_job_of_one_server_has_one_block() -> None:
    alone = ListedBlocks(one_server=True, per_server=None)
    assert [layout.block for layout in laid(fabric(), KEYS[-2], alone).layouts] in ([KEYS[-2][1]], [])
    assert laid(fabric(accelerators_per_server=2), ((4, 1, 1, 1, 1, 0, 0, 0), 4), alone).layouts == ()
