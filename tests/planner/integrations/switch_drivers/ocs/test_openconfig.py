"""What OpenConfig's model tells of a switch: connections listed once or twice, light by state, ports that are off."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner.integrations.switch_drivers.ocs.config import load_switches
from planner.integrations.switch_drivers.ocs.openconfig import CONNECTIONS, OpenConfigOcs
from planner.integrations.switch_drivers.ocs.tables import CrossConnectRow
from tests.planner.integrations.switch_drivers.ocs.site import unconnected

MODULE = "openconfig-optical-switch"
ROW = CrossConnectRow("1/1-1/5", "1/1", "1/5")


def entry(here: str, there: str, actual: str | None = None) -> dict[str, Any]:
    key = {"slot": "1", "port": here}
    state = key if actual is None else {**key, "peer-slot": "1", "peer-port": actual}
    return {**key, "config": {**key, "peer-slot": "1", "peer-port": there}, "state": state}


class Told(OpenConfigOcs):
    """Reads what it is told, and keeps what it would set."""

    connections: list[dict[str, Any]]
    off: str | None = None
    word: str = "STATUS_ENABLED"
    is_wrapped = False
    sent: tuple[list[str], list[str]] | None = None

    def get(self, steps: Any) -> Any:
        if steps[1] == CONNECTIONS:
            found = {f"{MODULE}:port-connection": self.connections}
            return {f"{MODULE}:port-connections": found} if self.is_wrapped else found
        states = {str(port): "STATUS_DISABLED" if str(port) == self.off else self.word for port in range(1, 9)}
        keys = ({"slot": "1", "port": port, "port-status": word} for port, word in states.items())
        return {"port-status": [{"slot": "1", "port": key["port"], "state": key} for key in keys]}

    def set(self, delete: Any, update: Any, value: Any) -> None:
        entries = [] if value is None else value[f"{MODULE}:port-connection"]
        self.sent = [steps[2][1]["port"] for steps in delete], [each["config"]["peer-port"] for each in entries]


@pytest.fixture
def switch(tmp_path: Path) -> Iterator[Told]:
    """Inputs 1 to 4, outputs 5 to 8."""
    found = Told(load_switches(unconnected(tmp_path, "torus", "openconfig").path), "x0")
    yield found
    found.close()


@pytest.mark.parametrize(
    "entries",
    [[entry("1", "5", "5")], [entry("5", "1", "1")], [entry("1", "5", "5"), entry("5", "1", "1")]],
    ids=["ingress", "egress", "both"],
)
def test_a_connection_goes_from_input_to_output(switch: Told, entries: list[dict[str, Any]]) -> None:
    switch.connections = entries
    tables = switch.read()
    assert tables.rows == {ROW.name: ROW}
    assert (tables.status(ROW), tables.dark_ports(ROW)) == ("enabled", [])
    switch.update([ROW], [CrossConnectRow("1/2-1/6", "1/2", "1/6")])
    assert switch.sent == ([each["port"] for each in entries], ["6"])


def test_light_passes_where_the_state_has_the_peer(switch: Told) -> None:
    switch.connections = [entry("1", "5")]
    tables = switch.read()
    assert (tables.status(ROW), tables.port_status("1/1")) == ("enabled", "tuning")
    switch.connections = [entry("1", "5", "6")]
    assert switch.read().status(ROW) == "disabled"
    switch.connections, switch.off = [entry("1", "5", "5")], "5"
    assert switch.read().dark_ports(ROW) == ["1/5"]


def test_a_delete_does_not_hit_what_others_have_there(switch: Told) -> None:
    switch.connections = [entry("1", "6", "6")]
    switch.read()
    switch.update([ROW], [])
    assert switch.sent is None
    switch.connections = []
    switch.read()
    switch.update([ROW], [])
    assert switch.sent == (["1"], [])


def test_connections_inside_their_container_are_seen(switch: Told) -> None:
    switch.is_wrapped, switch.connections = True, [entry("1", "6", "6")]
    assert [*switch.read().rows] == ["1/1-1/6"]
    switch.update([ROW], [])
    assert switch.sent is None


def test_what_others_have_joined_without_configuration_is_in_the_way_and_nothing_to_delete(switch: Told) -> None:
    made = entry("1", "6", "6")
    del made["config"]
    switch.connections = [made]
    assert [*switch.read().rows] == ["1/1-1/6"]
    assert switch.rows() == {}
    switch.update([ROW], [])
    assert switch.sent is None, "a delete at its port would hit it"
    made["state"]["peer-port"] = "5"
    assert switch.rows() == {}
    switch.update([ROW], [])
    assert switch.sent == (["1"], []), "what is left of ours may go"


@pytest.mark.parametrize(
    ("word", "is_lit"),
    [
        (f"{MODULE}:STATUS_ENABLED", True), ("STATUS_ENABLED", True), (f"{MODULE}:STATUS_FAILED", False),
        ("STATUS_UNKNOWN", False), ("STATUS_TUNING", False), ("", False),
    ],
)  # fmt: skip
def test_light_passes_at_ports_alone_that_are_said_to_be_enabled(switch: Told, word: str, is_lit: bool) -> None:
    switch.connections, switch.word = [entry("1", "5", "5")], word
    assert (switch.read().dark_ports(ROW) == []) == is_lit
