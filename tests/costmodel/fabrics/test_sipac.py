"""SiPAC as a fabric: sizes, digits that go together, subcubes, and where ranks go."""

from itertools import combinations, pairwise, product
from typing import Any

import pytest
from pydantic import ValidationError

from costmodel.fabrics import NO_PLAN, LinkPlan, Sipac
from costmodel.fabrics.group_plans import GroupPlan

RATE, ALPHA = 300e9, 1e-6


def sipac(radix: int = 3, digits: int = 3, **fields: Any) -> Sipac:
    data = {"servers": 2, "radix": radix, "digits": digits, "bandwidth": RATE, "alpha": ALPHA, "energy": "5 pJ/b"}
    return Sipac.model_validate(data | fields)


def job(tensor: int = 0, pipeline: int = 0, data: int = 0, context: int = 0, expert: int = 0) -> list[GroupPlan]:
    counts = (tensor, pipeline, data, context, expert)
    return [LinkPlan("bucket", 3**k, radices=(3,) * k) if k else NO_PLAN for k in counts]


def digits_of(slot: int) -> tuple[int, int, int]:
    return slot % 3, slot // 3 % 3, slot // 9


def test_groups_are_powers_of_the_radix_in_one_server() -> None:
    fabric = sipac()
    assert [len(fabric.plans("data", n, one_server=True)) for n in (1, 2, 3, 9, 27, 81)] == [1, 0, 1, 2, 2, 0]
    assert fabric.plans("data", 3, one_server=False) == ()
    assert fabric.blocks((3, 3, 3, 3), 81) == [3]
    assert fabric.blocks((3, 3, 3, 3), 27) == [3, 27]
    assert fabric.sizes == "1, 3, 9, 27"


def test_closed_forms_of_chains_and_all_to_alls() -> None:
    (chain,), (routed,) = (sipac().plans(kind, 9, one_server=True) for kind in ("pipeline", "expert"))
    link = RATE / 3 / 2
    assert chain.kind == "chain"
    assert (chain.latency_s, chain.seconds_per_byte) == pytest.approx((ALPHA, 1 / link))
    assert routed.kind == "routed"
    assert routed.latency_s == pytest.approx(2 * ALPHA)
    assert routed.seconds_per_byte == pytest.approx(1 / 3 / link)
    assert routed.bytes_per_byte == pytest.approx(4 / 3)


def test_digits_together_are_no_more_than_there_are() -> None:
    fabric = sipac()
    assert fabric.combines(job(1, 1, 1))
    assert not fabric.combines(job(1, 1, 2))
    assert fabric.combines(job(1, 0, 2, 1, 1))
    assert not fabric.combines(job(0, 0, 1, 1, 1))
    assert fabric.combines(job(1, 0, 0, 0, 2))


def test_subcubes() -> None:
    fabric = sipac()
    for k in range(1, 4):
        expected = set()
        for free in combinations(range(3), k):
            for fixed in product(range(3), repeat=3 - k):
                rest = dict(zip((d for d in range(3) if d not in free), fixed, strict=True))
                members = [s for s in range(27) if all(digits_of(s)[d] == v for d, v in rest.items())]
                expected.add(tuple(sorted(members, key=lambda s: [digits_of(s)[d] for d in free])))
        found = fabric.slices((3,) * k)
        assert {each.slots for each in found} == expected
        assert len(found) == len(expected)
        assert all(each.mask == sum(1 << slot for slot in each.slots) for each in found)


def test_tensor_takes_the_first_digits_then_pipeline_then_data() -> None:
    fabric = sipac()
    devices = fabric.layout(job(1, 1, 1), [(1, fabric.slices((3, 3, 3))[0].slots)])
    for rank, (server, slot) in enumerate(devices):
        tensor, stage, data = rank % 3, rank // 3 % 3, rank // 9
        assert (server, digits_of(slot)) == (1, (tensor, stage, data))


def test_consecutive_stages_differ_in_one_digit() -> None:
    fabric = sipac()
    devices = fabric.layout(job(pipeline=3), [(0, fabric.slices((3, 3, 3))[0].slots)])
    for (_, one), (_, other) in pairwise(devices):
        assert sum(a != b for a, b in zip(digits_of(one), digits_of(other), strict=True)) == 1


def test_context_and_expert_digits_come_first_in_data() -> None:
    fabric = sipac()
    devices = fabric.layout(job(0, 0, 3, 1, 1), [(0, fabric.slices((3, 3, 3))[0].slots)])
    for rank, (_, slot) in enumerate(devices):
        context, data = rank % 3, rank // 3
        assert digits_of(slot) == (context, data % 3, data // 3)
    assert fabric.held(job(0, 0, 3, 1, 1), devices) == [(0, fabric.slices((3, 3, 3))[0].slots)]


def test_large_servers_are_refused() -> None:
    with pytest.raises(ValidationError, match="4096 at most"):
        sipac(radix=17, digits=3)


def test_caches_take_the_wavelengths_to_one_place() -> None:
    [plan] = sipac().transfers(1, 2, one_server=True)
    assert (plan.kind, plan.radices) == ("routed", (3,))
    assert (plan.latency_s, plan.seconds_per_byte) == pytest.approx((ALPHA, 6 / RATE))
    assert not sipac().transfers(1, 3, one_server=True)
    assert not sipac().transfers(1, 2, one_server=False)
