"""Tables of cables: written, read back, refused with file, line and column."""

from pathlib import Path

import pytest

from planner.integrations.wiring.cables import Cable, CableTable, seen_ends
from planner.model.errors import InputError
from tests.planner.integrations.wiring.wiring_cases import WITH_SWITCHES, fabric_of


@pytest.mark.parametrize("kind", WITH_SWITCHES)
def test_what_is_written_is_read_back(kind: str, tmp_path: Path) -> None:
    table = CableTable.of(fabric_of(kind), 0.75)
    path = tmp_path / "wiring.csv"
    path.write_text(table.to_csv(), encoding="utf-8")
    read = CableTable.load(path)
    assert [(c.switch, c.port, c.direction, c.end, c.loss_db) for c in read.cables] == [
        (c.switch, c.port, c.direction, c.end, c.loss_db) for c in table.cables
    ]
    assert read.cables[0].place == "line 2"


@pytest.mark.parametrize("kind", WITH_SWITCHES)
def test_every_switch_is_wired_and_no_port_twice(kind: str) -> None:
    fabric = fabric_of(kind)
    cables = CableTable.of(fabric).cables
    assert {cable.switch for cable in cables} == set(fabric.switch_names)
    assert len({(cable.switch, cable.port) for cable in cables}) == len(cables)


def test_ports_of_a_rail_are_its_servers() -> None:
    fabric = fabric_of("ocs_rail")
    first = [cable for cable in CableTable.of(fabric).cables if cable.switch == "q1#0"]
    assert first[:3] == [
        Cable("q1#0", "1A", "input", "s0.g1"),
        Cable("q1#0", "1B", "output", "s0.g1"),
        Cable("q1#0", "2A", "input", "s1.g1"),
    ]


def test_a_fabric_without_switches_has_nothing_to_wire() -> None:
    with pytest.raises(InputError, match="fat_tree: has no optical switches"):
        CableTable.of(fabric_of("fat_tree"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("switch,port,direction\nq0#0,1A,input\n", "column 'end': is missing; write one by `planner wiring new`"),
        ("switch,port,direction,end,colour\n", "column 'colour': is no known column"),
        ("switch,port,direction,end\nq0#0,1A,into,s0.g0\n", "line 2, column 'direction': 'into' is neither"),
        ("switch,port,direction,end\nq0#0,,input,s0.g0\n", "line 2, column 'port': is empty"),
        (
            "switch,port,direction,end,loss_db\nq0#0,1A,input,s0.g0,much\n",
            "line 2, column 'loss_db': 'much' is no loss",
        ),
        ("switch,port,direction,end,loss_db\nq0#0,1A,input,s0.g0,nan\n", "line 2, column 'loss_db': 'nan' is no loss"),
    ],
)
def test_bad_tables_are_told(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "wiring.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        CableTable.load(path)
    assert str(path) in str(error.value)
    assert said in str(error.value)


def test_what_switches_see(tmp_path: Path) -> None:
    path = tmp_path / "seen.csv"
    path.write_text("port,switch,end\n1A,q0#0,s0.g0\n2A,q0#0,\n", encoding="utf-8")
    assert seen_ends(path) == {("q0#0", "1A"): "s0.g0"}
    for text, said in (
        ("port,end\n1A,s0.g0\n", "column 'switch': is missing"),
        (
            "switch,port,end\nq,1A,s0.g0\nq,1A,s0.g0\nq,1A,s7.g7\n",
            "line 4, column 'end': q 1A sees s7.g7 here",
        ),
        ("switch,port,end\nq,,s0.g0\n", "line 2, column 'port': is blank"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=said):
            seen_ends(path)
