"""Circuits that are made without validation are those that a file gives."""

from planner.model.masks import numbers_of
from planner.model.plan import Circuit, HeldCircuits, circuit_of


def test_a_circuit_that_is_made_is_the_one_that_is_read() -> None:
    made = circuit_of("s0.t1", "s1.t0", numbers_of(0b1010), ("s0>s1#2",))
    read = Circuit.model_validate({"from": "s0.t1", "to": "s1.t0", "wavelengths": [1, 3], "fibers": ["s0>s1#2"]})
    assert (made, hash(made)) == (read, hash(read))
    assert made.model_fields_set == read.model_fields_set
    held = HeldCircuits(dimension="data", circuits=(made,))
    assert HeldCircuits.model_validate_json(held.model_dump_json(by_alias=True)) == held
    assert held.circuits[0].wavelengths is numbers_of(0b1010), "one tuple for all circuits alike"
