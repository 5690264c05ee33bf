"""Messages of two candidates on plans of round numbers; what is hidden, switched and spent."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.fabrics import LinkPlan
from costmodel.pricing.communication import LinkLimits, communication, network_j
from costmodel.pricing.efficiency import Efficiency
from costmodel.pricing.totals import Messages, Totals
from tests.costmodel.pricing.score_cases import FAT_TREE, LIGHTPATH, fabric_of

TENSOR, PIPELINE, DATA, _, EXPERT = range(5)
LATENCY_S, BYTE_S, SENT, NEAR = (1e-6, 5e-6), (1e-9, 1e-8), (1.5, 1.0), (0.0, 0.75)
"""of the plan inside a server, and of that between servers"""
EFFICIENCY = Efficiency(matrix=0.5, attention=0.5, memory=0.5, launch_s=0)


def sums_of(**messages: tuple[list[float], list[float]]) -> Totals:
    """Number and bytes of two mappings by dimension, each message in two parts and half of all inside the bubble."""
    found = {}
    for name, (count, size) in messages.items():
        number, total = np.array(count), np.array(size)
        axis = {"tensor": TENSOR, "pipeline": PIPELINE, "data": DATA, "expert": EXPERT}[name]
        found[axis] = Messages(number, 2 * number, total, number / 2, number, total / 2, total)
    return Totals(*np.zeros((7, 2)), found)


def sent_of(
    sums: Totals,
    operator_s: list[float],
    slower: float = 1.0,
    kernels: Any = None,
    copies: float = 1.0,
    byte_s: float = 0.0,
    **overlap: Any,
) -> Any:
    """Of three candidates: the second mapping on both plans, then the first one on the first plan."""
    shared = {"node_bytes_per_s": 0.0, "ranks": 4}
    plans = [
        SimpleNamespace(latency_s=latency_s, seconds_per_byte=byte_s, bytes_per_byte=sent, near_share=near, **shared)
        for latency_s, byte_s, sent, near in zip(LATENCY_S, BYTE_S, SENT, NEAR, strict=True)
    ]
    if kernels:
        plans[0].node_bytes_per_s = 450e9
    candidates: Any = SimpleNamespace(mapping=np.array([1, 1, 0]), plans=plans, plan=np.tile([0, 1, 0], (5, 1)))
    graph: Any = SimpleNamespace(overlap=overlap, kernels=kernels)
    is_confined = np.zeros((5, 3), np.bool_)
    is_confined[DATA] = True
    links = LinkLimits(slower, is_confined, byte_s, copies)
    return communication(candidates, graph, sums, np.array(operator_s), links)


def test_messages_by_hand() -> None:
    sums = sums_of(tensor=([10, 20], [1000, 3000]), data=([0, 1], [0, 500]))
    found = sent_of(sums, [1.0, 1.0, 1.0], 3.0)
    tensor_s = [40 * 1e-6 + 3000 * 1e-9, 40 * 5e-6 + 3000 * 1e-8, 20 * 1e-6 + 1000 * 1e-9]
    data_s = [2 * 1e-6 + 3 * 500 * 1e-9, 2 * 5e-6 + 3 * 500 * 1e-8, 0.0]
    np.testing.assert_allclose(found.exposed_s[[TENSOR, DATA]], [tensor_s, data_s])
    np.testing.assert_allclose(found.repeated_s, np.add(tensor_s, data_s) / 2)
    np.testing.assert_allclose(found.sent_bytes[[TENSOR, DATA]], [[4500, 3000, 1500], [750, 500, 0]])
    np.testing.assert_allclose(found.near_bytes[[TENSOR, DATA]], [[0, 2250, 0], [0, 375, 0]])
    assert not found.exposed_s[[PIPELINE, 3, 4]].any()


def test_what_is_sent_more_often_takes_longer() -> None:
    """Bytes to experts count as often as they are sent, starts and other dimensions do not."""
    sums = sums_of(tensor=([10, 20], [1000, 3000]), expert=([10, 20], [1000, 3000]))
    found = sent_of(sums, [0.0] * 3, copies=2.0)
    np.testing.assert_allclose(found.exposed_s[EXPERT], [40e-6 + 6000e-9, 200e-6 + 6000e-8, 20e-6 + 2000e-9])
    np.testing.assert_allclose(found.exposed_s[TENSOR], [40e-6 + 3000e-9, 200e-6 + 3000e-8, 20e-6 + 1000e-9])
    np.testing.assert_allclose(found.sent_bytes[[TENSOR, EXPERT]], [[4500, 3000, 1500], [9000, 6000, 3000]])


def test_tokens_go_to_each_expert_of_their_server() -> None:
    """With 4 groups of 8 experts, where the experts' ranks share a server, or no switch of a server passes tokens on;
    other dimensions send what they do."""
    is_confined = np.array([[True, False]] * 5)
    for fabric, copies, expected in ((FAT_TREE, 2.0, [2, 1]), (FAT_TREE, 1.0, [1, 1]), (LIGHTPATH, 2.0, [2, 2])):
        graph: Any = SimpleNamespace(copies_inside=copies, regime="training")
        found = LinkLimits.of(graph, fabric_of(fabric), EFFICIENCY, is_confined).copies
        np.testing.assert_array_equal(np.broadcast_to(found, 2), expected)


def test_what_enters_by_many_ports_passes_the_links_of_the_server() -> None:
    """A rank sends 1.5 or 1 bytes for each of a message: at 4 ns each, longer than the plan inside, not outside."""
    sums = sums_of(tensor=([10, 20], [1000, 3000]))
    found = sent_of(sums, [0.0] * 3, byte_s=4e-9)
    np.testing.assert_allclose(found.exposed_s[TENSOR], [40e-6 + 18000e-9, 200e-6 + 3000e-8, 20e-6 + 6000e-9])


@settings(deadline=None, max_examples=40)
@given(operator_s=st.floats(0, 1e-3), tensor=st.floats(0, 1), data=st.floats(0, 1))
def test_operators_hide_no_more_than_they_take(operator_s: float, tensor: float, data: float) -> None:
    sums = sums_of(tensor=([10, 20], [1000, 3000]), data=([2, 1], [400, 500]))
    whole = sent_of(sums, [0.0] * 3).exposed_s
    found = sent_of(sums, [operator_s] * 3, tensor=tensor, data=data)
    shown = found.exposed_s
    hidden_s = (whole - shown).sum(axis=0)
    wanted_s = tensor * whole[TENSOR] + data * whole[DATA]
    np.testing.assert_allclose(hidden_s, np.minimum(wanted_s, operator_s), atol=1e-15)
    assert np.all(shown >= -1e-18)
    np.testing.assert_allclose(found.repeated_s, shown.sum(axis=0) / 2, atol=1e-18)


def test_each_mapping_may_hide_a_share_of_its_own() -> None:
    sums = sums_of(tensor=([10, 20], [1000, 3000]))
    whole, shown = (sent_of(sums, [1.0] * 3, tensor=share).exposed_s[TENSOR] for share in (0.0, np.array([0.25, 0.5])))
    np.testing.assert_allclose(shown / whole, [0.5, 0.5, 0.75])


def test_all_reduces_over_a_switch_take_what_kernels_say() -> None:
    """Each of the mean size; candidates beyond the server keep their plan, and those without any take no time."""
    kernels = SimpleNamespace(all_reduce_s=lambda ranks, size, rate: ranks * 1e-6 + size / rate)
    found = sent_of(sums_of(tensor=([0, 20], [0, 3000])), [1.0] * 3, kernels=kernels)
    expected = [20 * (4e-6 + 150 / 450e9), 40 * 5e-6 + 3000 * 1e-8, 0.0]
    np.testing.assert_allclose(found.exposed_s[TENSOR], expected)


@pytest.mark.parametrize(("reached", "expected"), [(None, 1 / 0.7), (300e9, 1.5), (500e9, 1.0)])
def test_links_of_a_server_in_training(reached: float | None, expected: float) -> None:
    """The plan of a group in one server takes longer, and no byte over the links less than at what they reach."""
    efficiency = EFFICIENCY.model_copy(update={"link_bytes_per_s": reached})
    training: Any = SimpleNamespace(regime="training", copies_inside=1.0)
    serving: Any = SimpleNamespace(regime="inference", copies_inside=1.0)
    is_confined = np.array([[True, False]] * 5)
    found = LinkLimits.of(training, fabric_of(FAT_TREE), efficiency, is_confined)
    byte_s = found.seconds_per_byte(0, np.array([0, 0]), np.array([1.0]), np.array([0.0]))
    np.testing.assert_allclose(byte_s, [expected, 1.0])
    assert found.byte_s == pytest.approx(expected / 450e9)
    for graph, fabric in ((training, LIGHTPATH), (serving, FAT_TREE)):
        plain = LinkLimits.of(graph, fabric_of(fabric), efficiency, is_confined)
        assert plain.slower == 1
        assert plain.byte_s == 0


def test_energy_by_reach() -> None:
    """10 pJ a bit inside a server, 20 beyond."""
    sent, is_confined = np.array([[1e9], [2e9], [0], [0], [4e9]]), np.array([[True], [False], [True], [True], [False]])
    found = network_j(is_confined, fabric_of(FAT_TREE), sent, np.zeros_like(sent))
    np.testing.assert_allclose(found, [1 * 0.08 + 6 * 0.16])


def test_what_stays_in_servers_of_a_group_over_several_has_their_energy() -> None:
    sent, near = np.zeros((2, 5, 1))
    sent[2], near[2] = 4e9, 3e9
    found = network_j(np.zeros((5, 1), bool), fabric_of(FAT_TREE), sent, near)
    np.testing.assert_allclose(found, [3 * 0.08 + 1 * 0.16])


@pytest.mark.parametrize(
    ("dimension", "kind", "share"),
    [
        ("data", "ring", 14 / 16),
        ("data", "tree", 14 / 15),
        ("pipeline", "switched", 14 / 15),
        ("expert", "switched", 7 / 15),
    ],
)
def test_of_sixteen_ranks_on_two_servers(dimension: Any, kind: str, share: float) -> None:
    """Of the links between ranks that follow each other two leave a server, or one; of all pairs eight of fifteen."""
    fabric = fabric_of(FAT_TREE | {"gpus_per_server": 8, "nvlink_alpha": "1 us", "network_alpha": "9 us"})
    plans = {plan.kind: plan for plan in fabric.plans(dimension, 16, one_server=False, per_server=8)}
    plan = plans[kind]  # type: ignore[index]
    assert isinstance(plan, LinkPlan)
    assert plan.near_share == pytest.approx(share)
