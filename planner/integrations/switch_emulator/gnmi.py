"""gNMI (version 0.8) of all switches on one port: Capabilities, Get, Set and Subscribe; the target names the switch."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

from planner.integrations.switch_emulator import openconfig
from planner.integrations.switch_emulator.emulator import Emulator
from planner.integrations.switch_emulator.errors import RestconfError
from planner.integrations.switch_emulator.faults import FaultKind, RequestClass
from planner.integrations.switch_emulator.gnmi_edits import GnmiEdit
from planner.integrations.switch_emulator.gnmi_paths import encoded, path_of, resource_of
from planner.integrations.switch_emulator.node_tree import MODULE, REVISION
from planner.integrations.switch_emulator.resources import Kind, Resource
from planner.integrations.switch_emulator.switch import OpticalSwitch
from planner.model.errors import InputError

VERSION = "0.8.0"
WORKERS = 64
"""calls at once, streams included"""
TICK_S = 0.002
"""between looks at what a stream shows"""
HANG_S = 0.05
JSON_ENCODINGS = (gnmi_pb2.JSON, gnmi_pb2.JSON_IETF)
CODES = {
    404: grpc.StatusCode.NOT_FOUND, 405: grpc.StatusCode.UNIMPLEMENTED, 409: grpc.StatusCode.FAILED_PRECONDITION,
    503: grpc.StatusCode.UNAVAILABLE,
}  # fmt: skip
"""status of RESTCONF -> code of gRPC; all others are INVALID_ARGUMENT"""


class GnmiService(gnmi_pb2_grpc.gNMIServicer):  # type: ignore[misc]
    """One service for all switches of an emulator."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator

    def Capabilities(self, request: Any, context: Any) -> Any:  # noqa: N802
        models = [
            gnmi_pb2.ModelData(name=MODULE, organization="SONiC", version=REVISION),
            gnmi_pb2.ModelData(name=openconfig.MODEL, organization="OpenConfig", version=openconfig.REVISION),
        ]
        return gnmi_pb2.CapabilityResponse(
            supported_models=models, supported_encodings=JSON_ENCODINGS, gNMI_version=VERSION
        )

    def Get(self, request: Any, context: Any) -> Any:  # noqa: N802
        """A notification for each path."""
        name = self._target(request.prefix, context)
        if request.encoding not in JSON_ENCODINGS:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "only JSON_IETF is spoken")
        with self._errors(context), self._emulator.switches[name].lock:
            kind = self._emulator.meet(name, RequestClass.READ)
            if kind is None:
                switch, now = self._emulator.switches[name], time.time_ns()
                found = [
                    gnmi_pb2.Notification(
                        timestamp=now,
                        prefix=gnmi_pb2.Path(target=name),
                        update=list(self._values(switch, request.prefix, path)),
                    )
                    for path in request.path
                ]
                return gnmi_pb2.GetResponse(notification=found)
        return self._fail(name, kind, context, "Get was not done")

    def Set(self, request: Any, context: Any) -> Any:  # noqa: N802
        """One transaction, or nothing."""
        name = self._target(request.prefix, context)
        chance = self._emulator.faults[name].random
        done = ""
        with self._errors(context), self._emulator.switches[name].lock:
            edit = self._edit(name, request)
            edit.read(request)
            kind = self._emulator.meet(name, RequestClass.BULK)
            if kind in (FaultKind.HALF, FaultKind.LIE):
                edit.apply_half(chance)
                done = "half of Set was done"
            elif kind is None or chance.random() < 0.5:
                edit.apply()
                done = "Set was done"
        if kind is FaultKind.LIE:
            self._emulator.tell(name, kind, done)
        elif kind is not None:
            return self._fail(name, kind, context, done or "Set was not done")
        return _set_response(request)

    def Subscribe(self, requests: Iterator[Any], context: Any) -> Iterator[Any]:  # noqa: N802
        """What is there, then a sync_response; of a STREAM what changes, of a POLL all again when it is asked."""
        wanted: Any = next(requests, None)
        if wanted is None or not wanted.HasField("subscribe"):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "a subscription comes first")
        asked = wanted.subscribe
        name = self._target(asked.prefix, context)
        shown: dict[bytes, Any] = {}
        yield from self._changes(name, asked, shown, context)
        yield gnmi_pb2.SubscribeResponse(sync_response=True)
        if asked.mode == gnmi_pb2.SubscriptionList.POLL:
            for _ in requests:
                shown.clear()
                yield from self._changes(name, asked, shown, context)
                yield gnmi_pb2.SubscribeResponse(sync_response=True)
        while asked.mode == gnmi_pb2.SubscriptionList.STREAM and context.is_active():
            time.sleep(TICK_S)
            yield from self._changes(name, asked, shown, context)

    def _changes(self, name: str, asked: Any, shown: dict[bytes, Any], context: Any) -> Iterator[Any]:
        """One notification of entries that are new, other or gone since they were shown, where there are any."""
        switch = self._emulator.switches[name]
        with self._errors(context), switch.lock:
            found = {
                update.path.SerializeToString(deterministic=True): update
                for subscription in asked.subscription
                for update in self._values(switch, asked.prefix, subscription.path, by_entry=True)
            }
        updates = [update for key, update in found.items() if shown.get(key) != update]
        deletes = [update.path for key, update in shown.items() if key not in found]
        shown.clear()
        shown.update(found)
        if updates or deletes:
            yield gnmi_pb2.SubscribeResponse(
                update=gnmi_pb2.Notification(
                    timestamp=time.time_ns(), prefix=gnmi_pb2.Path(target=name), update=updates, delete=deletes
                )
            )

    def _values(self, switch: OpticalSwitch, prefix: Any, path: Any, *, by_entry: bool = False) -> Iterator[Any]:
        """Updates for what a path of either model names."""
        if openconfig.is_meant(prefix, path):
            return self._openconfig(switch.name).updates(prefix, path, by_entry=by_entry)
        return _values(switch, prefix, path, by_entry=by_entry)

    def _edit(self, name: str, request: Any) -> GnmiEdit | openconfig.OpenConfigEdit:
        """Of the model that its first path is of."""
        paths = [*request.delete, *(update.path for update in (*request.replace, *request.update))]
        if paths and openconfig.is_meant(request.prefix, paths[0]):
            return openconfig.OpenConfigEdit(self._openconfig(name))
        return GnmiEdit(self._emulator.switches[name])

    def _openconfig(self, name: str) -> openconfig.OpenConfigSwitch:
        return openconfig.OpenConfigSwitch(self._emulator.switches[name], self._emulator.habits[name])

    def _target(self, prefix: Any, context: Any) -> str:
        """The switch that is meant; it may be left out where there is one alone."""
        names = self._emulator.switches
        name = prefix.target or (next(iter(names)) if len(names) == 1 else "")
        if name not in names:
            context.abort(grpc.StatusCode.NOT_FOUND, f"'{name}' is no switch here; name one as the target")
        return str(name)

    def _errors(self, context: Any) -> "_Errors":
        return _Errors(context)

    def _fail(self, name: str, kind: FaultKind | None, context: Any, what: str) -> None:
        """Hang until the client goes, or answer an error."""
        assert kind is not None
        self._emulator.tell(name, kind, what)
        while kind is FaultKind.HANG and context.is_active():
            time.sleep(HANG_S)
        context.abort(grpc.StatusCode.ABORTED if kind is FaultKind.HALF else grpc.StatusCode.INTERNAL, "internal error")


class _Errors:
    """Turns errors of RESTCONF into those of gRPC."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, RestconfError):
            self._context.abort(CODES.get(error.status, grpc.StatusCode.INVALID_ARGUMENT), error.said)


def _values(switch: OpticalSwitch, prefix: Any, path: Any, *, by_entry: bool = False) -> Iterator[Any]:
    """Updates for what a path names; `by_entry`: one for each entry below it."""
    resource = resource_of(prefix, path, switch.tables)
    if resource.kind is Kind.MODULE:
        tables = list(switch.tables.values())
    elif resource.table is None:
        raise RestconfError("invalid-value", "name a node of the module")
    else:
        tables = [resource.table]
    if resource.kind in (Kind.ENTRY, Kind.LEAF):
        yield from _of_entry(switch, resource, path, is_needed=not by_entry)
    elif by_entry or resource.kind is Kind.LIST:
        for table in tables:
            for row in switch.rows(table):
                yield gnmi_pb2.Update(path=path_of(table, row), val=encoded(row))
    else:
        held = {table.name: {table.list_name: list(switch.rows(table))} for table in tables}
        yield gnmi_pb2.Update(path=path, val=encoded(held if resource.kind is Kind.MODULE else held[tables[0].name]))


def _of_entry(switch: OpticalSwitch, resource: Resource, path: Any, *, is_needed: bool) -> Iterator[Any]:
    assert resource.table is not None
    row = switch.row(resource.table, resource.key)
    if row is not None and (not resource.leaf or resource.leaf in row):
        yield gnmi_pb2.Update(path=path, val=encoded(row[resource.leaf] if resource.leaf else row))
    elif is_needed:
        raise RestconfError("invalid-value", f"{','.join(resource.key)} {resource.leaf} is not there", status=404)


def _set_response(request: Any) -> Any:
    result = gnmi_pb2.UpdateResult
    done = [result(path=path, op=result.DELETE) for path in request.delete]
    done += [result(path=update.path, op=result.REPLACE) for update in request.replace]
    done += [result(path=update.path, op=result.UPDATE) for update in request.update]
    return gnmi_pb2.SetResponse(prefix=request.prefix, response=done, timestamp=time.time_ns())


def gnmi_server(emulator: Emulator, address: str) -> tuple[grpc.Server, int]:
    """A server that runs, and its port; `address` is host:port, 0 for a free one. There is no TLS."""
    server = grpc.server(ThreadPoolExecutor(WORKERS), options=[("grpc.so_reuseport", 0)])
    gnmi_pb2_grpc.add_gNMIServicer_to_server(GnmiService(emulator), server)
    try:
        port = server.add_insecure_port(address)
    except RuntimeError:
        raise InputError("--gnmi-port", address, "cannot be listened on; take another") from None
    server.start()
    return server, port
