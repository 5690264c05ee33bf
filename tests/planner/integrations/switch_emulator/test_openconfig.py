"""OpenConfig's model over gNMI calls: payloads against the node tree in YANG, Set as a transaction, light by state."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from pygnmi.spec.v080 import gnmi_pb2
from yangson import DataModel
from yangson.enumerations import ContentType, ValidationScope

from planner.integrations.switch_emulator import Emulator, SwitchSpec
from planner.integrations.switch_emulator.connections import BusyPort
from planner.integrations.switch_emulator.gnmi import GnmiService
from planner.integrations.switch_emulator.openconfig import MODEL, REVISION
from tests.planner.integrations.switch_drivers.ocs.fake_network import Context, FakeRpcError
from tests.planner.integrations.switch_emulator.switches import SETTLING_S, Clock

ROOT = f"{MODEL}:optical-switch"
LIBRARY = {
    "name": MODEL, "revision": REVISION, "namespace": "http://openconfig.net/yang/optical-switch",
    "conformance-type": "implement",
}  # fmt: skip
TREE = DataModel(
    json.dumps({"ietf-yang-library:modules-state": {"module-set-id": "1", "module": [LIBRARY]}}),
    [str(Path(__file__).parent)],
)
Key = dict[str, str]


def path(*steps: str | tuple[str, Key]) -> Any:
    pairs = ((step, {}) if isinstance(step, str) else step for step in steps)
    elements = [gnmi_pb2.PathElem(name=name, key=key) for name, key in pairs]
    return gnmi_pb2.Path(elem=elements)


def at(port: int) -> Any:
    return path(ROOT, "port-connections", ("port-connection", {"slot": "1", "port": str(port)}))


def entry(port: int, peer: int) -> dict[str, Any]:
    config = {"slot": "1", "port": str(port), "peer-slot": "1", "peer-port": str(peer)}
    return {"slot": "1", "port": str(port), "config": config}


@dataclass
class Rig:
    """A switch with inputs 1 to 4 and outputs 5 to 8."""

    emulator: Emulator
    clock: Clock

    def get(self, *steps: Any) -> Any:
        request = gnmi_pb2.GetRequest(path=[path(ROOT, *steps)], encoding=gnmi_pb2.JSON_IETF)
        (found,) = GnmiService(self.emulator).Get(request, Context()).notification
        return [json.loads(update.val.json_ietf_val) for update in found.update]

    def set(self, delete: Sequence[int] = (), update: Sequence[tuple[int, int]] = ()) -> None:
        value = {f"{MODEL}:port-connection": [entry(*pair) for pair in update]}
        encoded = gnmi_pb2.TypedValue(json_ietf_val=json.dumps(value).encode())
        updates = [gnmi_pb2.Update(path=path(ROOT, "port-connections"), val=encoded)] if update else []
        request = gnmi_pb2.SetRequest(delete=[at(port) for port in delete], update=updates)
        GnmiService(self.emulator).Set(request, Context())

    def pairs(self, container: str = "config") -> dict[str, str]:
        (found,) = self.get("port-connections")
        entries = found[f"{MODEL}:port-connection"]
        return {each["port"]: each[container]["peer-port"] for each in entries if "peer-port" in each[container]}


def rig(*, busy: BusyPort = BusyPort.REFUSE, lists_both_ends: bool = False) -> Rig:
    clock = Clock()
    emulator = Emulator([SwitchSpec("o", 8)], settling_s=SETTLING_S, clock=clock)
    emulator.habits["o"] = replace(emulator.habits["o"], busy_port=busy, lists_both_ends=lists_both_ends)
    return Rig(emulator, clock)


@pytest.mark.parametrize("lists_both_ends", [False, True])
def test_payloads_hold_to_the_model(lists_both_ends: bool) -> None:
    made = rig(lists_both_ends=lists_both_ends)
    made.set(update=[(1, 6), (2, 5)])
    made.emulator.switches["o"].hardware.stuck.add("3A")
    for _ in range(2):
        (found,) = made.get()
        (topology,) = made.get("optical-switch-topology")
        tree = {ROOT: {key.removeprefix(f"{MODEL}:"): value for key, value in {**found, **topology}.items()}}
        tree[ROOT]["optical-switch-topology"] = {"state": tree[ROOT].pop("state")}
        TREE.from_raw(tree).validate(ValidationScope.all, ContentType.all)
        made.clock.now_s += SETTLING_S
    assert len(made.pairs()) == (4 if lists_both_ends else 2)


def test_state_has_a_peer_once_light_passes() -> None:
    made = rig()
    made.set(update=[(1, 6)])
    assert (made.pairs(), made.pairs("state")) == ({"1": "6"}, {})
    made.clock.now_s += SETTLING_S
    assert made.pairs("state") == {"1": "6"}
    circuit = made.emulator.switches["o"].hardware.circuits["1A-2B"]
    made.emulator.switches["o"].hardware.release(circuit)
    circuit.b_side = "3B"
    made.emulator.switches["o"].hardware.join(circuit)
    assert (made.pairs(), made.pairs("state")) == ({"1": "6"}, {"1": "7"})


def test_a_set_deletes_first() -> None:
    made = rig()
    made.set(update=[(1, 6), (2, 5)])
    made.set(delete=[1, 2], update=[(1, 5), (2, 6)])
    assert made.pairs() == {"1": "5", "2": "6"}
    made.set(delete=[4])
    assert made.pairs() == {"1": "5", "2": "6"}


@pytest.mark.parametrize("busy", [*BusyPort])
def test_a_busy_port_by_habit(busy: BusyPort) -> None:
    made = rig(busy=busy)
    made.set(update=[(1, 6)])
    if busy is BusyPort.REFUSE:
        with pytest.raises(FakeRpcError) as refused:
            made.set(update=[(2, 6), (3, 5)])
        assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
        assert made.pairs() == {"1": "6"}
    else:
        made.set(update=[(2, 6), (3, 5)])
        assert made.pairs() == {"2": "6", "3": "5"}


@pytest.mark.parametrize("pair", [(1, 2), (1, 9), (0, 5)])
def test_what_cannot_be_connected(pair: tuple[int, int]) -> None:
    with pytest.raises(FakeRpcError) as refused:
        rig().set(update=[pair])
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_entries_containers_and_what_is_not_there() -> None:
    made = rig()
    made.set(update=[(1, 6)])
    one = ("port-connection", {"slot": "1", "port": "1"})
    assert made.get("port-connections", one, "config")[0][f"{MODEL}:peer-port"] == "6"
    statuses = made.get("port-statuses", ("port-status", {"slot": "*", "port": "*"}))
    assert len(statuses) == 8
    for steps in (("port-connections", ("port-connection", {"slot": "1", "port": "3"})), ("nothing",)):
        with pytest.raises(FakeRpcError) as refused:
            made.get(*steps)
        assert refused.value.code() is grpc.StatusCode.NOT_FOUND
