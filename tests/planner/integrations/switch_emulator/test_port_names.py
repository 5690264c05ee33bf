"""Names of ports in other protocols, there and back."""

import pytest

from planner.integrations.switch_emulator.port_names import fiber, number, numbered, of_fiber


def test_numbers() -> None:
    ports = [f"{place}{side}" for side in "AB" for place in range(1, 69)]
    assert [number(port, 68) for port in ports] == [*range(1, 137)]
    assert [numbered(each, 68) for each in range(1, 137)] == ports
    for wrong in (0, 137):
        with pytest.raises(KeyError):
            numbered(wrong, 68)


def test_fibers() -> None:
    assert [fiber(port) for port in ("1A", "1B", "8A", "9A", "64A", "65A", "320B")] == [
        "1.1.1", "1.1.1", "1.1.8", "1.2.1", "1.8.8", "2.1.1", "5.8.8",
    ]  # fmt: skip
    assert all(of_fiber(fiber(f"{place}A"), "B") == f"{place}B" for place in range(1, 400))
    for wrong in ("1.1", "1.9.1", "1.1.9", "0.1.1", "1.1.x"):
        with pytest.raises(KeyError):
            of_fiber(wrong, "A")
