"""The table of families: every kind of table, its columns, and the meaning of its numbers."""

import pytest

from costmodel.calibrate import CURVES, FAMILIES
from costmodel.field_docstrings import field_descriptions
from costmodel.pricing.calibration import load_calibrations


@pytest.mark.parametrize("kind", FAMILIES)
def test_each_kind_names_its_columns(kind: str) -> None:
    family = FAMILIES[kind]
    columns = {*family.columns, *family.optional}
    assert set(family.names) <= columns
    assert set(family.groups) <= columns


@pytest.mark.parametrize("kind", [kind for kind, family in FAMILIES.items() if family.fit is not None])
def test_each_fitted_number_has_a_meaning(kind: str) -> None:
    curve = CURVES[FAMILIES[kind].name]
    assert field_descriptions(curve).keys() == curve.model_fields.keys()
    assert len(curve.model_fields) <= 12


def test_the_catalog_holds_known_numbers_alone() -> None:
    for part in load_calibrations():
        for family, variants in part.families.items():
            for numbers in variants.values():
                CURVES[family].model_validate(numbers)
