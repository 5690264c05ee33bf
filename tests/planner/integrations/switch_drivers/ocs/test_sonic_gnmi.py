"""SONiC's tables over gNMI: a change is one Set, deletes first."""

from pathlib import Path

from planner.integrations.switch_drivers.ocs.config import load_switches
from planner.integrations.switch_drivers.ocs.sonic_gnmi import SonicGnmiSwitch
from planner.integrations.switch_drivers.ocs.tables import CrossConnectRow
from planner.integrations.switch_emulator import Emulator, SwitchSpec
from planner.integrations.switch_emulator.gnmi import gnmi_server
from tests.planner.integrations.switch_drivers.ocs.site import edited, unconnected

OLD, ONE, TWO = (CrossConnectRow(f"{a}-{b}", a, b) for a, b in (("1A", "1B"), ("1A", "2B"), ("2A", "1B")))


def test_a_change_is_one_transaction(tmp_path: Path) -> None:
    emulator = Emulator([SwitchSpec("x0", 8)], settling_s=0.0)
    server, port = gnmi_server(emulator, "127.0.0.1:0")
    site = unconnected(tmp_path, "torus", "gnmi")
    edited(site.path, lambda data: data["switches"]["*"].update({"url": f"http://127.0.0.1:{port}"}))
    switch = SonicGnmiSwitch(load_switches(site.path), "x0")
    switch.update([], [OLD])
    assert switch.rows() == {OLD.name: OLD}
    switch.update([OLD], [ONE, TWO])
    tables = switch.read()
    assert {*tables.rows.values()} == {ONE, TWO}
    assert [tables.status(row) for row in (OLD, ONE, TWO)] == ["missing", "enabled", "enabled"]
    assert tables.dark_ports(ONE) == []
    switch.update([ONE, TWO], [])
    assert switch.rows() == {}
    switch.close()
    server.stop(0).wait()
