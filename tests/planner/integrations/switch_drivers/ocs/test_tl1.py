"""What a switch of Calient tells, line by line: whose connections are whose, and where light passes."""

from pathlib import Path
from unittest import mock

import pytest

from planner.integrations.switch_drivers.ocs import text_connection
from planner.integrations.switch_drivers.ocs.switch import SwitchRefusalError, SwitchSilentError
from planner.integrations.switch_drivers.ocs.tables import CrossConnectRow
from tests.planner.integrations.switch_drivers.ocs.calient import FAILED, LIT, READY, line, said, switch

MINE = CrossConnectRow("1.1.1A-1.1.2B", "1.1.1A", "1.1.2B")


def test_states(tmp_path: Path) -> None:
    ports = '"1.1.6:WX,NONE,NONE:INAS=IS,INOS=IS,INOC=OK,INRS=NPR,OUTAS=IS,OUTOS=IS,OUTOC=FAIL,OUTRS=NPR"'
    answer = said(2, line("1.1.1", "1.1.2", READY), line("1.1.5", "1.1.6", FAILED))
    found, told = switch(tmp_path, answer, said(3, ports))
    with mock.patch.object(text_connection, "opened", return_value=told):
        tables = found.read()
    assert tables.status(MINE) == "disabled"
    assert {port: tables.port_status(port) for port in ("1.1.1A", "1.1.5A", "1.1.6B")} == {
        "1.1.1A": "blocked", "1.1.5A": "tuning", "1.1.6B": "failed",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        (line("1.1.1", "1.1.2", LIT, group="LAB"), ["LAB 1.1.1>1.1.2"]),
        (line("1.1.1", "1.1.2", LIT, name="PATH7"), ["SYSTEM PATH7"]),
        (line("1.1.1", "1.1.2", LIT, kind="2WAY"), ["SYSTEM 1.1.1-1.1.2", "SYSTEM 1.1.1-1.1.2 back"]),
        (line("1.1.1", "1.1.4", LIT, name="1.1.1>1.1.2"), ["1.1.1A-1.1.2B"]),
        (line("1.1.1", "1.1.2", LIT, name='\\"my, path: 7\\"'), ["SYSTEM my, path: 7"]),
    ],
)
def test_connections_of_others_have_other_names(tmp_path: Path, entry: str, names: list[str]) -> None:
    """The last one is ours, and leads elsewhere."""
    found, told = switch(tmp_path, said(2, entry))
    with mock.patch.object(text_connection, "opened", return_value=told):
        rows = found.rows()
    assert [*rows] == names
    assert MINE not in rows.values()


@pytest.mark.parametrize(
    "entry",
    [
        line("1.1.1", "1.1.2", LIT).strip('"'),
        line("1.1.1", "1.1.2", LIT)[:-9],
        line("1.1.1", "1.1.2", LIT, name="a,SRCPORT=1.1.9"),
    ],
    ids=["no quotes", "cut", "a word twice"],
)
def test_an_entry_that_cannot_be_read_is_not_passed_over(tmp_path: Path, entry: str) -> None:
    """It may be of others, at ports that are wanted."""
    found, told = switch(tmp_path, *(said(tag, entry) for tag in (2, 3, 4)))
    with (
        mock.patch.object(text_connection, "opened", return_value=told),
        pytest.raises(SwitchSilentError, match="reports what cannot be read"),
    ):
        found.configured()


def test_changes_go_kind_by_kind(tmp_path: Path) -> None:
    found, told = switch(tmp_path, said(2, code="DENY"), said(3), said(5) + said(4), said(7) + said(6))
    new = [CrossConnectRow(f"{a}A-{b}B", f"{a}A", f"{b}B") for a, b in (("1.1.3", "1.1.4"), ("1.1.5", "1.1.6"))]
    with mock.patch.object(text_connection, "opened", return_value=told):
        found.update([MINE], new)
    assert told.sent.splitlines()[1:] == [
        "CANC-CRS::1.1.1,1.1.2:2::,SYSTEM,1.1.1>1.1.2;",
        "DLT-CRS::1.1.1,1.1.2:3::,SYSTEM,1.1.1>1.1.2;",
        "ENT-CRS::1.1.3,1.1.4:4::,1WAY;",
        "ENT-CRS::1.1.5,1.1.6:5::,1WAY;",
        "ACT-CRS::1.1.3,1.1.4:6::1.1.3>1.1.4,SYSTEM;",
        "ACT-CRS::1.1.5,1.1.6:7::1.1.5>1.1.6,SYSTEM;",
    ]


@pytest.mark.parametrize(
    ("code", "error", "kind"),
    [
        ("SNVS", "Invalid Connection", SwitchSilentError),
        ("ICNV", "Command Not Valid", SwitchRefusalError),
        ("PLNA", "not active", SwitchSilentError),
    ],
)
def test_denials(tmp_path: Path, code: str, error: str, kind: type[Exception]) -> None:
    found, told = switch(tmp_path, said(2, code, f"/* {error} */", code="DENY"), said(3))
    with mock.patch.object(text_connection, "opened", return_value=told), pytest.raises(kind, match=error):
        found.update([], [MINE])
