"""Rows of several workloads that are scored together have the scores that each has alone."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from costmodel.fabrics import Fabric, FabricBase
from costmodel.hardware.device import load_device
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.limits import ANYWHERE
from costmodel.pricing.listing import listed_and_priced
from costmodel.pricing.score import Scores, score
from costmodel.pricing.scored_together import score_together
from costmodel.workloads import TransformerInference, TransformerTraining, Workload
from tests.costmodel.pricing.phases_cases import FABRIC as FIELDS

H100 = load_device("h100-sxm")
POOL: FabricBase = TypeAdapter(Fabric).validate_python(FIELDS)
LOADS: tuple[dict[str, object], ...] = (
    {"concurrency": 16},
    {"concurrency": [1, 3, 64], "output_tokens": 1},
    {"concurrency": 7, "input_tokens": 100_000, "output_tokens": 2048},
    {"concurrency": 16, "precision": "fp8"},
)
CHAT = {"kind": "transformer_inference", "model": "llama-3.1-8b", "input_tokens": 512, "output_tokens": 128}
TRAINING = {"kind": "transformer_training", "model": "bert-large", "global_batch": 64, "sequence": 512}
SIZES = (2, 4, 8)


@cache
def listed() -> tuple[Candidates, ...]:
    chats: list[Workload] = [TransformerInference.model_validate(CHAT | load) for load in LOADS]
    every = [*chats, TransformerTraining.model_validate(TRAINING)]
    return tuple(listed_and_priced(workload, SIZES, H100, POOL, ANYWHERE)[0] for workload in every)


@st.composite
def some_rows(draw: st.DrawFn) -> list[Candidates]:
    """A few rows of some of the workloads, in any order; of one workload perhaps in two tables."""
    tables = draw(st.lists(st.sampled_from(listed()), min_size=1, max_size=6))
    rows = [draw(st.lists(st.integers(0, len(each) - 1), min_size=1, max_size=8)) for each in tables]
    return [each.take(np.array(some)) for each, some in zip(tables, rows, strict=True)]


@given(some_rows())
@settings(max_examples=25, deadline=None)
def test_rows_have_the_scores_that_they_have_alone(tables: list[Candidates]) -> None:
    for found, table in zip(score_together(tables, H100, POOL), tables, strict=True):
        expected: Scores = score(table, H100, POOL)
        for name, column in vars(expected).items():
            assert getattr(found, name) == pytest.approx(column, rel=1e-12, abs=0, nan_ok=True), name


def test_the_rows_differ_in_settings_between_phases_and_in_splits() -> None:
    rows = listed()[0]
    assert rows.has_phases.any()
    assert not rows.has_phases.all()
    assert len({tuple(split.memory_units for split in each.splits) for each in listed()}) > 1


def test_nothing_is_scored_where_there_are_no_tables() -> None:
    assert score_together([], H100, POOL) == []
