"""Shipped plans and their files."""

from planner.integrations.exports import Source
from tests.planner.checks import good


def source_of(name: str) -> Source:
    return Source(*good.GOOD[name](), "plan.json", 1000)
