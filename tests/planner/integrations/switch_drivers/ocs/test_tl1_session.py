"""Sessions of TL1: a login first, answers in parts and in any order, and what nobody asked for in between."""

from contextlib import nullcontext
from pathlib import Path
from unittest import mock

import pytest

from planner.integrations.switch_drivers.ocs import text_connection
from planner.integrations.switch_drivers.ocs.config import load_switches
from planner.integrations.switch_drivers.ocs.switch import SwitchRefusalError, SwitchSilentError
from planner.integrations.switch_drivers.ocs.tables import CrossConnectRow
from planner.integrations.switch_drivers.ocs.tl1 import Tl1Switch
from planner.integrations.switch_drivers.ocs.tl1_session import Tl1Session
from tests.planner.integrations.switch_drivers.ocs.calient import LIT, Told, line, said, switch
from tests.planner.integrations.switch_drivers.ocs.site import unconnected

MINE = CrossConnectRow("1.1.1A-1.1.2B", "1.1.1A", "1.1.2B")


def test_parts_reports_and_acknowledgments(tmp_path: Path) -> None:
    report = '\r\n   OCS 16-11-07 11:20:15\r\n*C 7 REPT ALM CRS\r\n   "1.1.1>1.1.2:CR,LOS,SA"\r\n;\r\n'
    first, last = (line("1.1.1", "1.1.2", LIT), line("1.1.3", "1.1.4", LIT))
    parts = said(2, first, end=">") + report + "IP 2\r\n<\r\n" + said(2, last)
    found, told = switch(tmp_path, *(parts[at : at + 50] for at in range(0, len(parts), 50)))
    with mock.patch.object(text_connection, "opened", return_value=told):
        tables = found.read()
    assert set(tables.rows) == {"1.1.1A-1.1.2B", "1.1.3A-1.1.4B"}
    assert tables.dark_ports(MINE) == []
    assert told.sent == "ACT-USER::planner:1::secret;\nRTRV-CRS:::2::ALL;\n"


def test_a_login_that_is_denied(tmp_path: Path) -> None:
    site = unconnected(tmp_path, "torus", "tl1")
    found, told = Tl1Switch(load_switches(site.path), "x0"), Told(said(1, "PIUI", code="DENY"))
    with (
        mock.patch.object(text_connection, "opened", return_value=told),
        pytest.raises(SwitchRefusalError, match="denies the login"),
    ):
        found.rows()


def test_answers_in_any_order_with_what_nobody_asked_for(tmp_path: Path) -> None:
    site, told = unconnected(tmp_path, "torus", "tl1"), Told(said(1), said(9) + said(3, "b") + said(2, "a"))
    with mock.patch.object(text_connection, "opened", return_value=told):
        found = Tl1Session(load_switches(site.path), "x0").ask(["A:::{};", "B:::{};"], "se;cret")
    assert [answer.lines for answer in found] == [["a"], ["b"]]
    assert told.sent == 'ACT-USER::planner:1::"se;cret";\nA:::2;\nB:::3;\n'


def verbs_sent(folder: Path, answers: str) -> str:
    """First letters of all that is sent, logins (A) and reads (R), while the switch takes logins, and answers reads in
    turn: done (d), or that the login is not active (n). Each read is asked until it is answered."""
    site, inactive = unconnected(folder, "torus", "tl1"), ("PLNA", "/* Login Not Active */")
    kinds = {"A": ((), "COMPLD"), "d": ((), "COMPLD"), "n": (inactive, "DENY")}
    told = Told(*(said(tag, *kinds[kind][0], code=kinds[kind][1]) for tag, kind in enumerate(answers, 1)))
    session = Tl1Session(load_switches(site.path), "x0")
    with mock.patch.object(text_connection, "opened", return_value=told):
        for kind in answers.replace("A", ""):
            taken = pytest.raises(SwitchSilentError, match="login is not active") if kind == "n" else nullcontext()
            with taken:
                session.ask(["RTRV:::{};"], "secret")
    return "".join(each[0] for each in told.sent.splitlines())


def test_a_login_that_the_switch_has_ended_is_made_again(tmp_path: Path) -> None:
    """One that is not active yet is waited for."""
    assert verbs_sent(tmp_path, "AndnAd") == "ARRRAR"


def test_a_login_that_the_switch_took_and_forgot_is_made_again(tmp_path: Path) -> None:
    assert verbs_sent(tmp_path, "AnnAnd") == "ARRARR"
