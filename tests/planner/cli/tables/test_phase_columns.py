"""Rows of `planner score` that change between phases, or differ in their blocks alone, read apart."""

from collections import Counter

import pytest

from planner.candidates.expand import list_options
from planner.cli.tables.jobs_table import collectives, mapping
from planner.cli.tables.phase_columns import OWN, block_column, phase_columns
from planner.cli.tables.serving_columns import how_served
from planner.fabrics.problem import JobOptions
from planner.model.instance import Instance
from tests.paths import ROOT


@pytest.fixture(scope="module")
def chat() -> JobOptions:
    """Of a service whose short prompts take other collectives than its tokens."""
    instance = Instance.load(ROOT / "instances" / "sipam" / "phases.yaml")
    return list_options(instance, instance.job("llama405b-chat"))


def _laid(options: JobOptions, rows: list[int]) -> dict[str, list[str]]:
    return {
        "mapping": [mapping(options.candidates.configuration(row)) for row in rows],
        "collectives": [collectives(options.candidates, row) for row in rows],
        **phase_columns(options, rows),
    }


def test_settings_of_the_first_phase_and_blocks_tell_rows_apart(chat: JobOptions) -> None:
    rows = chat.rows_by_value()[:20]
    laid = _laid(chat, rows)
    own = laid[f"{OWN}prefill"]
    assert [each == "-" for each in own] == [chat.candidates.configuration(row).first_phase is None for row in rows]
    assert "tp ring w4, 8 units" in own
    assert any(each.endswith(" in decode") for each in own), "units differ"
    shown = zip(*(laid | block_column(chat, rows, laid)).values(), strict=True)
    assert set(Counter(shown).values()) == {1}


def test_columns_that_tell_nothing_are_left_out(chat: JobOptions) -> None:
    rows = [row for row in chat.rows_by_value() if not chat.candidates.has_phases[row]][:1]
    assert phase_columns(chat, rows) == {}
    assert block_column(chat, rows, _laid(chat, rows)) == {}


def test_rows_in_rounds_are_no_continuous_batching(chat: JobOptions) -> None:
    instance = Instance.load(ROOT / "instances" / "sipam" / "phases.yaml")
    workload, device = chat.job.workload, instance.cluster.device
    assert how_served(workload, device) == "continuous batching of a generic backend"
    assert how_served(workload, device, [False, False]) == "continuous batching of a generic backend"
    assert how_served(workload, device, [True, True]).startswith("static batching (rounds, ")
    mixed = how_served(workload, device, [True, False])
    assert mixed.startswith("continuous batching (static, in rounds, where a setting of its own is shown below) of")
    static = workload.model_copy(update={"batching": "static"})
    assert how_served(static, device, [True, False]) == "static batching of a generic backend"
