"""MSCCL-XML: run by an interpreter of the format, numerically right, within its limits."""

from random import Random
from xml.etree import ElementTree

import pytest

from costmodel.collectives.build import schedule_of
from costmodel.collectives.family import ALGORITHMS
from costmodel.collectives.ladder import Algorithm as Name
from costmodel.collectives.ladder import Collective
from costmodel.collectives.plan import CollectivePlan
from planner.integrations.exports.msccl_xml import Algorithm, msccl_xml
from tests.costmodel.collectives.cases import best_of, limits
from tests.oracles import msccl as oracle

KINDS = [(collective, name) for collective, names in ALGORITHMS.items() for name in names]


def _right(schedule_text: str, collective: Collective, ranks: int, chunks: int, seed: int) -> None:
    random = Random(seed)
    inputs = [[random.randrange(10**9) for _ in range(chunks)] for _ in range(ranks)]
    for rank, buffers in enumerate(oracle.run(schedule_text, inputs, seed)):
        expected = {
            "all_reduce": [sum(parts) for parts in zip(*inputs, strict=True)],
            "reduce_scatter": [sum(given[rank % chunks] for given in inputs)],
            "all_gather": [given[0] for given in inputs],
            "broadcast": inputs[0],
            "all_to_all": [given[rank % chunks] for given in inputs],
        }[collective]
        assert buffers["o"] == expected


@pytest.mark.slow
@pytest.mark.parametrize(("collective", "name"), KINDS)
@pytest.mark.parametrize("ranks", [2, 6, 7, 8, 12, 16])
def test_every_collective_is_right(collective: Collective, name: Name, ranks: int) -> None:
    for seed, (max_peers, message_bytes) in enumerate([(1, 1e3), (3, 1e3), (3, 1e9), (16, 1e5)]):
        schedule = schedule_of(best_of(name, collective, ranks, message_bytes, max_peers))
        chunks = 1 if collective == "all_gather" else schedule.num_chunks
        _right(msccl_xml(Algorithm("a", schedule)), collective, ranks, chunks, seed)


@pytest.mark.slow
@pytest.mark.parametrize(
    "radices", [(2, 3), (3, 2), (6,), (2, 2, 2), (4, 2), (8,), (3, 4), (2, 2, 3), (12,), (4, 4), (2, 8), (2, 2, 2, 2)]
)
@pytest.mark.parametrize("name", ["radix", "exchange"])
def test_all_radices_in_the_order_of_circuits_in_files(name: Name, radices: tuple[int, ...]) -> None:
    ranks = 1
    for radix in radices:
        ranks *= radix
    plan = CollectivePlan("all_reduce", name, ranks, limits(), radices, (1,) * len(radices), (1,) * len(radices))
    schedule = schedule_of(plan)
    for seed in range(5):
        _right(msccl_xml(Algorithm("a", schedule)), "all_reduce", ranks, schedule.num_chunks, seed)


@pytest.mark.parametrize("strides", [(1, 3), (1, 3, 4), (1, 2, 3, 6)])
def test_circulants_are_right(strides: tuple[int, ...]) -> None:
    schedule = schedule_of(CollectivePlan("all_reduce", "circulant", 8, limits(), strides, (1,), (2,)))
    for seed in range(2):
        _right(msccl_xml(Algorithm("a", schedule)), "all_reduce", 8, schedule.num_chunks, seed)


@pytest.mark.parametrize(("ranks", "strides"), [(8, (1, 3, 4)), (6, (1, 2, 3, 4)), (5, (1,)), (12, (1, 3, 5, 6))])
def test_relays_over_circulants_are_right(ranks: int, strides: tuple[int, ...]) -> None:
    plan = CollectivePlan("all_to_all", "circulant_relay", ranks, limits(), strides, (1,), (1,))
    schedule = schedule_of(plan)
    for seed in range(2):
        _exchanges(msccl_xml(Algorithm("a", schedule)), ranks, schedule.num_chunks, seed)


def _exchanges(text: str, ranks: int, chunks: int, seed: int) -> None:
    """Every rank ends with what each other had for it, in order."""
    random = Random(seed)
    inputs = [[random.randrange(10**9) for _ in range(chunks)] for _ in range(ranks)]
    each = chunks // ranks
    for rank, buffers in enumerate(oracle.run(text, inputs, seed)):
        assert buffers["o"] == [part for given in inputs for part in given[rank * each : (rank + 1) * each]]


def _steps(text: str) -> int:
    return max(len(block) for gpu in ElementTree.fromstring(text) for block in gpu)


@pytest.mark.slow
def test_limits_are_named() -> None:
    ring = schedule_of(best_of("ring", "all_reduce", 128, 1e6))
    assert _steps(msccl_xml(Algorithm("ring", ring))) == 254
    longer = schedule_of(best_of("ring", "all_reduce", 130, 1e6))
    with pytest.raises(ValueError, match=r"steps: .* needs 258, MSCCL allows 256"):
        msccl_xml(Algorithm("ring", longer))
    wide = schedule_of(best_of("exchange", "all_reduce", 17, 1e3, 16))
    assert ElementTree.fromstring(msccl_xml(Algorithm("wide", wide))).attrib["nchannels"] == "2"
    with pytest.raises(ValueError, match=r"threadblocks: .* more than 32 in each of 1 channels"):
        msccl_xml(Algorithm("wide", wide), max_channels=1)


@pytest.mark.slow
def test_counts_are_cut() -> None:
    text = msccl_xml(Algorithm("halving", schedule_of(best_of("radix", "all_reduce", 256, 1e9))))
    counts = [int(step.attrib["cnt"]) for step in ElementTree.fromstring(text).iter("step")]
    assert max(counts) == 71
    threadblocks = [
        sum(block.attrib["chan"] == channel for block in gpu)
        for gpu in ElementTree.fromstring(text)
        for channel in {block.attrib["chan"] for block in gpu}
    ]
    assert max(threadblocks) <= 32


def test_the_interpreter_finds_faults() -> None:
    """Without a wait a value is overwritten early or read late; with a wrong one nothing goes on."""
    text = msccl_xml(Algorithm("a", schedule_of(best_of("exchange", "all_reduce", 8, 1e3, 2))))
    root = ElementTree.fromstring(text)
    for step in root.iter("step"):
        step.set("depid", "-1")
    unordered = ElementTree.tostring(root, encoding="unicode")
    wrong = 0
    for seed in range(20):
        try:
            _right(unordered, "all_reduce", 8, 1, seed)
        except AssertionError:
            wrong += 1
    assert wrong > 0
    root = ElementTree.fromstring(text)
    for block in root[0]:
        for step in block:
            step.set("depid", block.attrib["id"])
            step.set("deps", step.attrib["s"])
            step.set("hasdep", "1")
    with pytest.raises(AssertionError, match="deadlock"):
        _right(ElementTree.tostring(root, encoding="unicode"), "all_reduce", 8, 1, 0)
