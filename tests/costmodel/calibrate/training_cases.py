"""Shared by the tests of `calculon`, `systems` and `training`."""

import pytest

from costmodel.calibrate.family import Series
from tests.paths import SHARED

MEASURED = SHARED / "measured"
needs_tables = pytest.mark.skipif(not MEASURED.exists(), reason="../shared/measured is absent")


def of(series: tuple[Series, ...], quantity: str) -> Series:
    return next(each for each in series if each.quantity == quantity)
