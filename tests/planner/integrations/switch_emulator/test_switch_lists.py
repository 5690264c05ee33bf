"""Which switches are emulated."""

from pathlib import Path

import pytest

from planner.integrations.switch_emulator.switch_lists import read_switches
from planner.model.errors import InputError


def test_a_number_names_and_a_table(tmp_path: Path) -> None:
    assert [each.name for each in read_switches("3", 136)] == ["ocs0", "ocs1", "ocs2"]
    assert [each.name for each in read_switches("left, right", 8)] == ["left", "right"]
    table = tmp_path / "switches.csv"
    table.write_text("name,ports\nleft,16\nright,\n")
    assert [(each.name, each.ports) for each in read_switches(str(table), 8)] == [("left", 16), ("right", 8)]


@pytest.mark.parametrize(
    ("given", "ports", "said"),
    [
        ("0", 8, "from 1 to 1,024"),
        ("99999", 8, "from 1 to 1,024"),
        ("a,a", 8, "twice"),
        ("a/b", 8, "no name"),
        ("referee", 8, "no name"),
        ("2", 7, "even number of ports"),
        ("nowhere.csv", 8, "cannot be read"),
    ],
)
def test_wrong_ones_are_refused(given: str, ports: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_switches(given, ports)


def test_a_table_without_names_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "switches.csv"
    table.write_text("switch\nleft\n")
    with pytest.raises(InputError, match="line 2"):
        read_switches(str(table), 8)
