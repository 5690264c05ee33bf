"""gNMI over a real socket with the client of pygnmi and with plain stubs: Capabilities, Get, Set, Subscribe."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from pygnmi.client import gNMIclient
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

from planner.integrations.switch_emulator import Emulator, FaultKind, RequestClass, SwitchSpec
from planner.integrations.switch_emulator.gnmi import gnmi_server
from planner.integrations.switch_emulator.gnmi_paths import path_of
from tests.planner.integrations.switch_emulator.switches import entry

CIRCUITS = "sonic-ocs:sonic-ocs/OCS_CROSS_CONNECT"
PORTS = "sonic-ocs:sonic-ocs/OCS_PORT_TABLE"
SETTLING_S = 0.02


@pytest.fixture
def emulator() -> Emulator:
    return Emulator([SwitchSpec("ocs0", 8), SwitchSpec("ocs1", 8)], settling_s=SETTLING_S)


@pytest.fixture
def address(emulator: Emulator) -> Iterator[tuple[str, int]]:
    server, port = gnmi_server(emulator, "127.0.0.1:0")
    yield "127.0.0.1", port
    server.stop(0).wait()


@pytest.fixture
def stub(address: tuple[str, int]) -> Iterator[Any]:
    with grpc.insecure_channel(f"{address[0]}:{address[1]}") as channel:
        yield gnmi_pb2_grpc.gNMIStub(channel)


def path(emulator: Emulator, table: str, **row: str) -> Any:
    return path_of(emulator.switches["ocs1"].tables[table], row)


def circuit(emulator: Emulator, name: str) -> Any:
    value = gnmi_pb2.TypedValue(json_ietf_val=json.dumps(entry(name)).encode())
    return gnmi_pb2.Update(path=path(emulator, "OCS_CROSS_CONNECT", cross_connect_id=name), val=value)


def on_ocs1(**what: Any) -> Any:
    return gnmi_pb2.SetRequest(prefix=gnmi_pb2.Path(target="ocs1"), **what)


def test_the_client_of_pygnmi_reads_and_writes(emulator: Emulator, address: tuple[str, int]) -> None:
    emulator.switches["ocs0"].apply((), [entry("4A-4B")])
    with gNMIclient(target=address, insecure=True, skip_verify=True) as client:
        assert client.capabilities()["supported_models"][0]["name"] == "sonic-ocs"
        rows = {"OCS_CROSS_CONNECT_LIST": [entry("1A-2B"), entry("2A-1B")]}
        client.set(update=[(CIRCUITS, rows)], target="ocs1", encoding="json_ietf")
        found = client.get(path=[CIRCUITS], target="ocs1", encoding="json_ietf")
        (update,) = found["notification"][0]["update"]
        assert update["val"] == {"sonic-ocs:OCS_CROSS_CONNECT_LIST": rows["OCS_CROSS_CONNECT_LIST"]}
        found = client.get(path=[f"{PORTS}/OCS_PORT_LIST[simplex_port_id=1A]/target_simplex_port_id"], target="ocs1")
        assert found["notification"][0]["update"][0]["val"] == "2B"
    assert list(emulator.switches["ocs0"].circuits) == ["4A-4B"]


def test_a_stream_shows_how_ports_tune(emulator: Emulator, stub: Any) -> None:
    port = path(emulator, "OCS_PORT_TABLE", simplex_port_id="1A")
    asked = gnmi_pb2.SubscriptionList(
        prefix=gnmi_pb2.Path(target="ocs1"), subscription=[gnmi_pb2.Subscription(path=port)]
    )
    stream = stub.Subscribe(iter([gnmi_pb2.SubscribeRequest(subscribe=asked)]), timeout=10)
    seen: list[str] = []
    for answer in stream:
        if answer.sync_response:
            emulator.switches["ocs1"].apply((), [entry("1A-2B")])
        for update in answer.update.update:
            seen.append(json.loads(update.val.json_ietf_val)["sonic-ocs:oper_status"])
        if seen[-1] == "connected":
            break
    stream.cancel()
    assert list(dict.fromkeys(seen)) == ["blocked", "tuning", "connected"]


def test_once_shows_every_entry_and_ends(emulator: Emulator, stub: Any) -> None:
    emulator.switches["ocs1"].apply((), [entry("1A-2B")])
    every = gnmi_pb2.Subscription(path=path(emulator, "OCS_CROSS_CONNECT", cross_connect_id="*"))
    asked = gnmi_pb2.SubscriptionList(
        prefix=gnmi_pb2.Path(target="ocs1"), subscription=[every], mode=gnmi_pb2.SubscriptionList.ONCE
    )
    first, last = stub.Subscribe(iter([gnmi_pb2.SubscribeRequest(subscribe=asked)]), timeout=10)
    assert [dict(each.path.elem[2].key) for each in first.update.update] == [{"cross_connect_id": "1A-2B"}]
    assert last.sync_response


@pytest.mark.parametrize(
    ("target", "name", "code"),
    [
        ("ocs9", "OCS_PORT", grpc.StatusCode.NOT_FOUND),
        ("ocs1", "OCS_NOTHING", grpc.StatusCode.NOT_FOUND),
    ],
)
def test_what_is_not_there(stub: Any, target: str, name: str, code: grpc.StatusCode) -> None:
    elements = [gnmi_pb2.PathElem(name="sonic-ocs:sonic-ocs"), gnmi_pb2.PathElem(name=name)]
    request = gnmi_pb2.GetRequest(
        prefix=gnmi_pb2.Path(target=target), path=[gnmi_pb2.Path(elem=elements)], encoding=gnmi_pb2.JSON_IETF
    )
    with pytest.raises(grpc.RpcError) as refused:
        stub.Get(request)
    assert refused.value.code() is code


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (FaultKind.ERROR, grpc.StatusCode.INTERNAL),
        (FaultKind.HALF, grpc.StatusCode.ABORTED),
        (FaultKind.HANG, grpc.StatusCode.DEADLINE_EXCEEDED),
        (FaultKind.RESTART, grpc.StatusCode.UNAVAILABLE),
    ],
)
def test_faults_come_over_gnmi_too(emulator: Emulator, stub: Any, kind: FaultKind, code: grpc.StatusCode) -> None:
    emulator.faults["ocs1"].plan(RequestClass.BULK, kind)
    with pytest.raises(grpc.RpcError) as refused:
        stub.Set(on_ocs1(update=[circuit(emulator, "1A-1B"), circuit(emulator, "2A-2B")]), timeout=0.2)
    assert refused.value.code() is code
    assert len(emulator.switches["ocs1"].circuits) < 2 or kind in (FaultKind.ERROR, FaultKind.HANG)
