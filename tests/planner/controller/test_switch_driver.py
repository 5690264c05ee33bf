"""Circuits that a job gets beside those that it has on."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner.controller.switch_driver import Circuits, added, holds_all
from tests.planner.integrations.switch_drivers.drivers import BETWEEN

NUMBERS = st.sets(st.integers(0, 5), min_size=1)


@st.composite
def held(draw: st.DrawFn) -> Circuits:
    entries = st.tuples(
        st.sampled_from(["tensor", "data"]), st.sampled_from([None, "first"]), st.sets(st.integers(0, 5))
    )
    return [
        {
            "dimension": dimension,
            **({"phase": phase} if phase else {}),
            "circuits": [{"from": n} for n in sorted(numbers)],
        }
        for dimension, phase, numbers in draw(st.lists(entries, max_size=3))
        if numbers
    ]


def lights(circuits: Circuits) -> set[tuple[Any, Any]]:
    return {(each.get("phase"), circuit["from"]) for each in circuits for circuit in each["circuits"]}


@given(held(), held())
def test_what_is_added_is_what_was_not_on(now: Circuits, before: Circuits) -> None:
    assert lights(added(now, before)) == lights(now) - lights(before)
    assert holds_all(now, before) == (lights(before) <= lights(now))


def test_partitions_of_servers_are_as_circuits() -> None:
    part = {"dimension": "slice", "circuits": [], "partition": "2x2x1", "devices": ["s0.c0"]}
    assert added([part, *BETWEEN], BETWEEN) == [part]
    assert added([part], [part]) == []
    assert not holds_all(BETWEEN, [part])
