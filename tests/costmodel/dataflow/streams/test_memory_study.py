"""Steps of a study: systems differ in what they should, and nothing is faster than its parts allow."""

from itertools import product

import pytest
from pydantic import ValidationError

from costmodel.dataflow.streams.memory_study import MemoryStudy
from costmodel.dataflow.streams.timeline import Timeline
from costmodel.hardware.parts import part_names
from tests.costmodel.dataflow.streams.memory_study_cases import NETWORKS, STUDY


def test_the_catalog_has_one_study_whose_numbers_have_sources() -> None:
    assert part_names("memory_study") == ("mc-dla",)
    assert STUDY.networks == NETWORKS
    assert set(STUDY.sources) == {field.alias or name for name, field in MemoryStudy.model_fields.items()} - {
        "kind", "name", "source", "sources",
    }  # fmt: skip


@pytest.mark.slow
def test_a_step_takes_as_long_as_its_longest_stream_and_no_longer_than_all(
    ran: dict[tuple[str, str, str], Timeline],
) -> None:
    for each in ran.values():
        parts = (each.compute_s, each.copy_s, each.exchange_s)
        assert max(parts) <= each.end_s * (1 + 1e-12)
        assert each.end_s <= sum(parts) * (1 + 1e-12)


def test_systems_are_ordered_as_their_bandwidths(ran: dict[tuple[str, str, str], Timeline]) -> None:
    for network, parallel in product(NETWORKS, ("data", "model")):
        ends = {system: ran[network, parallel, system].end_s for system in STUDY.systems}
        assert ends["oracle"] <= ends["MC-DLA(B)"] <= ends["MC-DLA(L)"] <= ends["MC-DLA(S)"] <= ends["DC-DLA"]
        assert ends["oracle"] <= ends["HC-DLA"] <= 2 * ends["MC-DLA(L)"]


def test_changes_replace_keys_of_the_file() -> None:
    changed = STUDY.with_changes({"rules": {"lookahead": 3}, "host": {"bandwidth": "32 GB/s", "devices": 1}})
    assert changed.rules.most_leaving is None
    assert changed.fabric("DC-DLA").stores()[0].bandwidth_bytes_per_s == 32e9
    assert changed.systems == STUDY.systems
    with pytest.raises(ValidationError, match="unknown pe array"):
        STUDY.with_changes({"device": "mc-dla-devise"})


def test_elementwise_layers_may_be_free() -> None:
    free = STUDY.with_changes({"counts_elementwise": False}).step("VGG-E", "data", "oracle")
    assert free.compute_s < STUDY.step("VGG-E", "data", "oracle").compute_s


def test_only_copies_over_links_of_memory_nodes_share_them() -> None:
    shared = STUDY.with_changes({"shares_links": True})
    for system in ("DC-DLA", "HC-DLA", "oracle"):
        assert shared.step("AlexNet", "data", system).end_s == STUDY.step("AlexNet", "data", system).end_s
    assert shared.step("AlexNet", "data", "MC-DLA(B)").end_s > STUDY.step("AlexNet", "data", "MC-DLA(B)").end_s
