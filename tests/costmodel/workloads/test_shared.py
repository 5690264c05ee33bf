"""Workloads asked for in the same words are one object; other words, and wrong ones, are told apart."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from costmodel.workloads import Workload
from costmodel.workloads.shared import MOST_KEPT

READ: TypeAdapter[Any] = TypeAdapter(Workload)
ASKED = {"kind": "transformer_training", "model": "llama3-8b", "global_batch": 32, "sequence": 4096}


def test_the_same_words_are_one_workload_with_one_text() -> None:
    first, second = READ.validate_python(dict(ASKED)), READ.validate_python(dict(ASKED))
    assert first is second
    assert first.as_json == first.model_dump_json()
    assert READ.validate_python(first) is first


@pytest.mark.parametrize(("field", "value"), [("global_batch", 64), ("sequence", 8192), ("model", "llama3-70b")])
def test_other_words_are_another_workload(field: str, value: object) -> None:
    first, other = READ.validate_python(ASKED), READ.validate_python({**ASKED, field: value})
    assert getattr(other, field) == value != getattr(first, field)
    assert other.as_json != first.as_json


def test_a_truth_value_is_not_taken_for_the_number_that_it_equals() -> None:
    number, truth = READ.validate_python({**ASKED, "zero": 1}), READ.validate_python({**ASKED, "zero": 1.0})
    assert number is not truth
    assert READ.validate_python({**ASKED, "cuda_graphs": True}) is not READ.validate_python({**ASKED, "cuda_graphs": 1})


def test_an_error_names_the_field_each_time() -> None:
    for _ in range(2):
        with pytest.raises(ValidationError) as raised:
            READ.validate_python({**ASKED, "global_batch": "many"})
        assert raised.value.errors()[0]["loc"] == ("transformer_training", "global_batch")


def test_what_is_no_mapping_of_plain_values_is_read_as_before() -> None:
    with pytest.raises(ValidationError):
        READ.validate_python(7)
    with pytest.raises(ValidationError):
        READ.validate_python({**ASKED, "model": object()})


def test_many_different_ones_are_read_though_few_are_kept() -> None:
    read = [READ.validate_python({**ASKED, "global_batch": number}) for number in range(1, MOST_KEPT + 2)]
    assert [each.global_batch for each in read] == list(range(1, MOST_KEPT + 2))
