"""Plans on a fat tree, by hand."""

import pytest

from costmodel.fabrics import FatTree
from tests.costmodel.fabrics.lightpath_cases import fat_tree, lightpath


def test_job_limits_and_blocks() -> None:
    assert lightpath(racks=3).most_devices_of_a_job == 8
    assert fat_tree(racks=3).most_devices_of_a_job == 24
    assert [*lightpath().blocks((8, 8, 8), 8)] == [1]
    assert [*lightpath().blocks((4, 4, 4), 8)] == [4]
    assert [*lightpath().blocks((8, 8, 8), 16)] == []
    assert [*fat_tree().blocks((8, 8, 8), 8)] == []
    assert [*fat_tree().blocks((1, 1, 1), 4)] == [1, 4]
    assert [*fat_tree().blocks((1, 2, 4), 8)] == [1, 2, 4]
    assert [*fat_tree().blocks((1, 2, 8), 8)] == [1, 2, 4]
    assert [*fat_tree().blocks((3, 3, 3), 12)] == [3]


def test_experts_exchange_what_they_do_not_hold() -> None:
    """Each of 4 ranks keeps a quarter of its tokens and sends the others, all at once."""
    (plan,) = fat_tree().plans("expert", 4, one_server=True)
    assert (plan.latency_s, plan.seconds_per_byte, plan.bytes_per_byte) == pytest.approx((2e-6, 0.75 / 450e9, 0.75))
    (far,) = fat_tree().plans("expert", 4, one_server=False)
    assert (far.latency_s, far.seconds_per_byte) == pytest.approx((5e-6, 0.75 / 50e9))
    context, data = (fat_tree().plans(d, 4, one_server=True) for d in ("context", "data"))
    assert [*context] == [*data]


def test_fat_tree_plans_by_hand() -> None:
    ring, tree = fat_tree().plans("data", 4, one_server=True)
    assert ring.latency_s == pytest.approx(6 * 2e-6)
    assert ring.seconds_per_byte == pytest.approx(1.5 / 450e9)
    assert ring.bytes_per_byte == 1.5
    assert tree.seconds_per_byte == pytest.approx(2 / 450e9)
    (far,) = fat_tree().plans("pipeline", 2, one_server=False)
    assert (far.latency_s, far.seconds_per_byte) == pytest.approx((5e-6, 1 / 50e9))
    assert far.name == "switched"
    assert ring.configurations() == ()
    assert fat_tree().switching_inside.switch_s == 0.0
    assert lightpath().switching_inside.switch_s == pytest.approx(40e-6)
    assert fat_tree().network_j_per_byte(True) == pytest.approx(80e-12)
    assert fat_tree().network_j_per_byte(False) == pytest.approx(160e-12)
    assert fat_tree().num_fibers(0, 1) == 0
    assert not fat_tree().has_circuits


TREE = FatTree(
    servers=16, gpus_per_server=8, nvlink_bandwidth_bytes_per_s=450e9, nvlink_alpha_s=3e-6, nvlink_energy_j_per_byte=0,
    network_bandwidth_bytes_per_s=50e9, network_alpha_s=5e-6, network_energy_j_per_byte=0,
)  # fmt: skip


def test_members_of_a_server_share_its_ports() -> None:
    alone, four, eight = (TREE.plans("data", 64, one_server=False, per_server=k)[0] for k in (1, 4, 8))
    assert alone.seconds_per_byte == 4 * four.seconds_per_byte == 8 * eight.seconds_per_byte
    inside = TREE.plans("data", 8, one_server=True, per_server=8)[0]
    assert inside.seconds_per_byte == 2 * 7 / 8 / 450e9


def test_tokens_that_stay_in_the_server_do_not_cross_the_network() -> None:
    (apart,) = TREE.plans("expert", 8, one_server=False, per_server=1)
    (half,) = TREE.plans("expert", 8, one_server=False, per_server=4)
    assert apart.seconds_per_byte == 7 / 8 / 50e9
    assert half.seconds_per_byte == 4 / 8 / 50e9
