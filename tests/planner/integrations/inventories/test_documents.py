"""Fields of files that others write."""

import pytest

from planner.integrations.inventories.documents import count, items, mapping, text, words
from planner.model.errors import InputError


def test_what_is_there_is_taken_and_what_is_not_is_empty() -> None:
    assert (mapping(None, "x", "f"), items(None, "x", "f"), items([{}], "x", "f")) == ({}, [], [{}])
    assert (text("a", "x", "f"), count("8", "x", "f"), count(0, "x", "f")) == ("a", 8, 0)
    assert (words(None), words("a"), words(["a", 1]), words(5)) == ([], ["a"], ["a", "1"], ["5"])


def test_another_kind_is_named_with_its_place() -> None:
    for call, said in [
        (lambda: mapping([], "x", "f"), "x: f: is list, not a mapping"),
        (lambda: items({}, "x", "f"), "x: f: is dict, not a list"),
        (lambda: items([1], "x", "f"), "x: f[0]: is int"),
        (lambda: text("", "x", "f"), "x: f: is no text"),
        (lambda: count("1Gi", "x", "f"), "'1Gi' is no whole number"),
        (lambda: count(True, "x", "f"), "True is no whole number"),
    ]:
        with pytest.raises(InputError) as error:
            call()
        assert said in str(error.value)
