"""How many ranks of a group share a server, and what that is worth on electrical switches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.fabrics import FatTree
from costmodel.parallelism.degrees import Degrees
from costmodel.parallelism.mappings import DIMENSIONS

TREE = FatTree(
    servers=16, gpus_per_server=8, nvlink_bandwidth_bytes_per_s=450e9, nvlink_alpha_s=3e-6, nvlink_energy_j_per_byte=0,
    network_bandwidth_bytes_per_s=50e9, network_alpha_s=5e-6, network_energy_j_per_byte=0,
)  # fmt: skip
DEGREE = st.sampled_from([1, 2, 3, 4])


def groups(d: Degrees, dimension: str) -> dict[tuple[int, ...], list[int]]:
    """Ranks of each group, counted one by one: what a rank's other indices are names its group."""
    found: dict[tuple[int, ...], list[int]] = {}
    for rank in range(d.num_devices):
        rest, t = divmod(rank, d.tensor)
        rest, c = divmod(rest, d.context)
        data, p = divmod(rest, d.pipeline)
        outer, inner = divmod(data, d.expert)
        key = {
            "tensor": (data, p, c), "context": (data, p, t), "pipeline": (data, c, t), "data": (p, t),
            "expert": (outer, p, c, t),
        }[dimension]  # fmt: skip
        found.setdefault(key, []).append(rank)
        assert 0 <= inner < d.expert
    return found


def test_experts_of_blocks_that_cut_a_replica_are_apart() -> None:
    degrees = Degrees(tensor=1, pipeline=3, data=8, context=1, expert=2)
    assert degrees.ranks_together("expert", 6) == 2
    assert degrees.ranks_together("expert", 8) == 1


@pytest.mark.slow
@given(DEGREE, DEGREE, DEGREE, DEGREE, st.sampled_from([1, 2]), st.data())
def test_never_more_than_share_a_block(t: int, p: int, n: int, c: int, e: int, data: st.DataObject) -> None:
    degrees = Degrees(t, p, n * e, c, e)
    total = degrees.num_devices
    blocks = [b for b in range(1, total + 1) if total % b == 0 and (b % (t * c) == 0 or b == t)]
    block = data.draw(st.sampled_from(blocks))
    for dimension in DIMENSIONS:
        fewest = min(
            max(sum(r // block == rank // block for r in ranks) for rank in ranks)
            for ranks in groups(degrees, dimension).values()
        )
        together = degrees.ranks_together(dimension, block)
        assert 1 <= together <= degrees.ranks(dimension)
        assert together <= fewest


@given(DEGREE, DEGREE, DEGREE, DEGREE, st.sampled_from([1, 2, 3]))
def test_groups_are_those_counted_rank_by_rank(t: int, p: int, n: int, c: int, e: int) -> None:
    degrees = Degrees(t, p, n * e, c, e)
    for dimension in DIMENSIONS:
        counted = sorted(groups(degrees, dimension).values())
        assert sorted(degrees.groups(dimension).tolist()) == counted


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
