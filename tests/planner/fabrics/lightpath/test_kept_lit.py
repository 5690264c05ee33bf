"""Circuits that stay on: each where a configuration has one like it."""

from types import SimpleNamespace
from typing import Any

from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.kept_lit import kept_lit, lit_alone
from planner.fabrics.lit import Lit
from planner.model.plan import Circuit, HeldCircuits
from tests.planner.fabrics.lightpath.rwa_cases import light_of

DEVICES = [(0, 0), (0, 1), (0, 2)]


def circuit(source: int, to: int, *wavelengths: int) -> Circuit:
    return Circuit(source=f"s0.t{source}", destination=f"s0.t{to}", wavelengths=wavelengths)


def lit_by(*each: tuple[Circuit, ...]) -> Lit:
    """Circuits, configuration by configuration."""
    return Lit(tuple(HeldCircuits(dimension="data", circuits=circuits) for circuits in each))


def asked(*configurations: Any) -> Demand:
    """A demand with these circuits, of which nothing else is looked at."""
    demand: Any = SimpleNamespace(configurations=configurations)
    return demand  # type: ignore[no-any-return]


def test_a_circuit_stays_where_there_is_one_of_its_width() -> None:
    light, lit = light_of(), lit_by((circuit(0, 1, 2, 3), circuit(1, 0, 2, 3)))
    found = kept_lit(light, asked(("data", ((1, 0, 2), (0, 2, 1), (0, 1, 2)))), DEVICES, lit)
    assert found == [{0: circuit(1, 0, 2, 3), 2: circuit(0, 1, 2, 3)}]
    assert kept_lit(light, asked(("data", ((1, 0, 2), (0, 1, 1)))), DEVICES, lit) is None, "it would be narrower"
    assert kept_lit(light, asked(("data", ((1, 0, 2),))), DEVICES, lit) is None


def test_what_is_on_in_turn_is_not_on_at_once() -> None:
    """Two circuits leave one accelerator on the same wavelength, each in a configuration of its own."""
    light, lit = light_of(), lit_by((circuit(0, 1, 0),), (circuit(0, 2, 0),))
    assert kept_lit(light, asked(("data", ((0, 1, 1), (0, 2, 1)))), DEVICES, lit) is None
    both = kept_lit(light, asked(("data", ((0, 1, 1), (0, 2, 1))), ("tensor", ((0, 2, 1),))), DEVICES, lit)
    assert both == [{0: circuit(0, 1, 0)}, {0: circuit(0, 2, 0)}]


def test_what_is_on_in_two_configurations_is_one_circuit() -> None:
    light, lit = light_of(), lit_by((circuit(0, 1, 0),), (circuit(0, 1, 0),))
    assert kept_lit(light, asked(("tensor", ((0, 1, 1),))), DEVICES, lit) == [{0: circuit(0, 1, 0)}]


def test_all_that_is_asked_for_is_on_already() -> None:
    """One circuit may serve in two configurations, and in one of them twice only where two are on."""
    light, lit = light_of(), lit_by((circuit(0, 1, 0), circuit(1, 0, 0)), (circuit(0, 1, 1),))
    one, both = ("tensor", ((0, 1, 1),)), ("data", ((0, 1, 1), (1, 0, 1)))
    first = {0: circuit(0, 1, 0), 1: circuit(1, 0, 0)}
    assert lit_alone(light, asked(both, one), DEVICES, lit) == [first, {0: circuit(0, 1, 0)}]
    twice = lit_alone(light, asked(("data", ((0, 1, 1), (0, 1, 1)))), DEVICES, lit)
    assert twice == [{0: circuit(0, 1, 0), 1: circuit(0, 1, 1)}]
    for lacking in ((0, 1, 2), (1, 2, 1)):
        assert lit_alone(light, asked(("data", (lacking,))), DEVICES, lit) is None
    assert lit_alone(light, asked(("data", ((1, 0, 1), (1, 0, 1)))), DEVICES, lit) is None, "one is on"
    assert lit_alone(light, asked(), DEVICES[:1], lit_by()) == []
