"""Parts of the routes, with a source each."""

import pytest
from pydantic import ValidationError

from costmodel.hardware.routes import (
    RouteParts,
    load_route_parts,
    route_parts_names,
)
from tests.costmodel.hardware.routes.placed import PICOJOULE_PER_BIT, SETS


def test_the_catalog_has_the_sets_of_the_text_and_each_number_its_source() -> None:
    assert set(route_parts_names()) == set(SETS)
    for name in SETS:
        parts = load_route_parts(name)
        assert parts.name == name
        assert all(len(part.source) > 10 for part in parts.parts.values())


@pytest.mark.parametrize("name", SETS)
def test_five_scenarios(name: str) -> None:
    """In pJ/bit, with the fewest switches."""
    parts = load_route_parts(name)
    found = {scenario: parts.j_per_byte(scenario) / PICOJOULE_PER_BIT for scenario in parts.routes}
    assert found == pytest.approx(SETS[name])


def test_each_switch_adds_its_energy() -> None:
    parts = load_route_parts("routes-electrical")
    for switches in range(4, 13):
        j_per_byte = parts.j_per_byte("datastore", switches)
        assert j_per_byte == pytest.approx((130 + 35 * switches) * PICOJOULE_PER_BIT)
    assert parts.j_per_byte("tray_memory", 2) == pytest.approx(200 * PICOJOULE_PER_BIT)
    with pytest.raises(ValueError, match=r"switches: 13 on route 'datastore'.*it has 4 to 12"):
        parts.j_per_byte("datastore", 13)


def test_bad_parts_are_refused() -> None:
    good = load_route_parts("routes-electrical").model_dump(mode="json")
    for change, match in (
        ({"tray": {"ends": ["nvlnk"]}}, "did you mean nvlink"),
        ({"rack": {"ends": ["adapter"], "switches": [1, 1]}}, "switch: is missing"),
        ({"rack": {"ends": ["adapter"], "switch": "switch", "switches": [2, 1]}}, "is no interval"),
    ):
        with pytest.raises(ValidationError, match=match):
            RouteParts.model_validate(good | {"routes": change})
    with pytest.raises(ValueError, match="unknown set of route parts"):
        load_route_parts("routes-eletrical")
    only_tray = RouteParts.model_validate(good | {"routes": {"tray": {"ends": ["nvlink"]}}})
    with pytest.raises(ValueError, match="unknown route of 'routes-electrical' 'rack'"):
        only_tray.j_per_byte("rack")
