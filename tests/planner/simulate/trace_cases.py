"""Shared by the tests of `trace`."""

from tests.paths import SHARED

PHILLY = SHARED / "traces" / "philly.csv"
