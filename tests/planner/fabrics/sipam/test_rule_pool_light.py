"""Light between accelerators and memory: each way to break it is noticed."""

from collections.abc import Callable

import pytest

from tests.planner.fabrics.sipam.plans import Fields, broken


def _no_switches(data: Fields) -> None:
    data["switches"] = None


def _two_outputs_swapped(data: Fields) -> None:
    pairs = data["switches"]["after"][0]["connections"]
    pairs[0][1], pairs[1][1] = pairs[1][1], pairs[0][1]


def _superfluous(data: Fields) -> None:
    data["switches"]["after"][0]["connections"].append(["s9.a0", "s9.a1"])


def _joined_twice(data: Fields) -> None:
    pairs = data["switches"]["after"][0]["connections"]
    pairs.append([pairs[0][0], "s0.a9"])


def _no_time(data: Fields) -> None:
    data["switches"]["time"] = 0


def _something_before(data: Fields) -> None:
    data["switches"]["before"] = data["switches"]["after"][:1]


@pytest.mark.parametrize(
    "change", [_no_switches, _two_outputs_swapped, _superfluous, _joined_twice, _no_time, _something_before]
)
def test_light(change: Callable[[Fields], None]) -> None:
    assert "pool_light" in broken(change)
