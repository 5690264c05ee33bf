"""What a switch of Polatis tells: pairs, states of ports, and a queue of errors."""

from pathlib import Path

import pytest

from planner.integrations.switch_drivers.ocs.switch import SwitchRefusalError, SwitchSilentError
from planner.integrations.switch_drivers.ocs.tables import CrossConnectRow
from tests.planner.integrations.switch_drivers.ocs.polatis import answering, switch

ROW = CrossConnectRow("1-5", "1", "5")


def test_pairs_and_states_of_ports(tmp_path: Path) -> None:
    with answering(b"1\r\n", b"(E,F,D,E,E,E,E,E)\r\n", b"(@1, 02),(@5,6)\r\n") as url:
        found = switch(tmp_path, url)
        tables = found.read()
        found.close()
    assert [*tables.rows.values()] == [ROW, CrossConnectRow("2-6", "2", "6")]
    assert tables.dark_ports(ROW) == []
    assert tables.dark_ports(tables.rows["2-6"]) == ["2"]
    assert [tables.port_status(port) for port in "1234"] == ["connected", "failed", "force_blocked", "blocked"]


STATES = b"(E,E,E,E,E,E,E,E)\n"


@pytest.mark.parametrize(
    ("rest", "states", "connections"),
    [
        (b"1\n", b"(E,E)\n", b"(@),(@)\n"),
        (b"1\n", STATES, b"what?\n"),
        (b"1\n", STATES, b"(@1,2),(@5)\n"),
        (b"1\n", STATES, b"(@1,2),(@)\n"),
        (b"1\n", STATES, b"(@1,2),(@5,0)\n"),
        (b"1\n", STATES, b"(@1,),(@5,6)\n"),
        (b"0\n", STATES, b"(@1),(@5)\n"),
        (b"ERR\n", STATES, b"(@1),(@5)\n"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, rest: bytes, states: bytes, connections: bytes) -> None:
    with answering(rest, states, connections) as url:
        found = switch(tmp_path, url)
        with pytest.raises(SwitchSilentError, match="cannot be read"):
            found.rows()
        found.close()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (b'-113, "Undefined header"\n', SwitchRefusalError),
        (b'-221,"Settings conflict"\n', SwitchSilentError),
        (b'+301,"Port in use"\n', SwitchSilentError),
    ],
)
def test_the_queue_of_errors_is_read_out(tmp_path: Path, error: bytes, kind: type[Exception]) -> None:
    """Three lines are sent before the first question."""
    with answering(b"", b"", b"", error, b'0, "No error"\n') as url:
        found = switch(tmp_path, url)
        with pytest.raises(kind, match=error.decode().split('"')[1]):
            found.update([ROW], [ROW])
        found.close()
