"""RESTCONF (RFC 8040) of one switch: a request in, an answer out, no network in between."""

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, quote

from planner.integrations.switch_emulator.bulk_update import Bulk, whole
from planner.integrations.switch_emulator.edits import delete, merge, replace
from planner.integrations.switch_emulator.errors import RestconfError
from planner.integrations.switch_emulator.http_messages import (
    YANG_JSON,
    HttpRequest,
    HttpResponse,
    refused,
    require_accepted,
    require_json,
)
from planner.integrations.switch_emulator.node_tree import MODULE, NAMESPACE, REVISION, RPC, Table
from planner.integrations.switch_emulator.payloads import Payloads
from planner.integrations.switch_emulator.resources import Kind, Resource, resource_at
from planner.integrations.switch_emulator.switch import OpticalSwitch

ROOT = "/restconf"
VERSION = "2019-01-04"
"""of ietf-yang-library"""
READ = ("GET", "HEAD", "OPTIONS")
CONTENT = ("all", "config", "nonconfig")
MOST_KEPT = 1024
"""paths, with what each names"""


class Restconf:
    """The server of one switch."""

    def __init__(self, switch: OpticalSwitch) -> None:
        self.switch = switch
        self._payloads = Payloads(switch.vocabulary)
        self._resource_at = lru_cache(MOST_KEPT)(lambda path: resource_at(path, switch.tables))
        self._writes: dict[str, Callable[[Resource, bytes], HttpResponse]] = {
            "PUT": self._put, "PATCH": self._patch, "POST": self._post, "DELETE": self._delete,
        }  # fmt: skip

    def answer(self, request: HttpRequest, bulk: Bulk = whole) -> HttpResponse:
        """One request; `bulk` says how much of a bulk-update is done, and what is said of it."""
        try:
            resource = self._resource_at(request.path.removeprefix(ROOT))
            allowed = _allowed(resource)
            if request.method not in allowed:
                said = f"{request.method} is not for this resource"
                raise RestconfError("operation-not-supported", said)
            if request.method == "OPTIONS":
                return HttpResponse(200, headers={"Allow": ", ".join(allowed), "Accept-Patch": YANG_JSON})
            require_accepted(request)
            if request.method in READ:
                return self._get(resource, request.query)
            if request.query:
                raise RestconfError("invalid-value", f"'{request.query}': no query is taken with {request.method}")
            if request.body and request.method != "DELETE":
                require_json(request)
            if resource.kind is Kind.RPC:
                return self._bulk_update(request.body, bulk)
            return self._writes[request.method](resource, request.body)
        except RestconfError as error:
            headers = {"Allow": ", ".join(allowed)} if error.status == 405 else {}
            return refused(error, headers)

    def _bulk_update(self, body: bytes, bulk: Bulk) -> HttpResponse:
        given = self._payloads.read(body, "input") if body else {}
        output = bulk(self.switch, given.get("delete", []), given.get("add", []))
        return HttpResponse(200, self._payloads.write(output, "output"))

    def _get(self, resource: Resource, query: str) -> HttpResponse:
        content = _content(query)
        kind, table = resource.kind, resource.table
        if kind in WELL_KNOWN:
            return HttpResponse(200, json.dumps(WELL_KNOWN[kind]).encode())
        if kind in (Kind.DATA, Kind.MODULE):
            body = self._payloads.write(self._all(content), "module", "all")
            return HttpResponse(200, b'{"ietf-restconf:data":' + body + b"}" if kind is Kind.DATA else body)
        assert table is not None
        if content != "all" and (content == "config") != table.is_config:
            return HttpResponse(204)
        if kind is Kind.TABLE:
            return HttpResponse(200, self._payloads.write(self._rows(table), "table", table.name))
        if kind is Kind.LIST:
            return HttpResponse(200, self._payloads.write(list(self.switch.rows(table)), "list", table.name))
        row = self._row(resource)
        if kind is Kind.ENTRY:
            return HttpResponse(200, self._payloads.write([row], "list", table.name))
        return HttpResponse(200, self._payloads.write(row[resource.leaf], "leaf", f"{table.name}/{resource.leaf}"))

    def _all(self, content: str) -> dict[str, Any]:
        return {
            table.name: self._rows(table)
            for table in self.switch.tables.values()
            if content == "all" or (content == "config") == table.is_config
        }

    def _rows(self, table: Table) -> dict[str, Any]:
        return {table.list_name: list(self.switch.rows(table))}

    def _row(self, resource: Resource) -> dict[str, Any]:
        """The row of an entry or a leaf that is there; 404 else."""
        assert resource.table is not None
        row = self.switch.row(resource.table, resource.key)
        if row is None or (resource.leaf and resource.leaf not in row):
            said = f"{resource.table.list_name}={','.join(resource.key)} {resource.leaf}".rstrip()
            raise RestconfError("invalid-value", f"{said} is not there", status=404)
        return row

    def _put(self, resource: Resource, body: bytes) -> HttpResponse:
        is_new = False
        if resource.kind in (Kind.ENTRY, Kind.LEAF):
            assert resource.table is not None
            row = self.switch.row(resource.table, resource.key)
            is_new = row is None if resource.kind is Kind.ENTRY else resource.leaf not in self._row_of(resource)
        given = self._given(resource, body)
        if resource.kind is Kind.LEAF:
            merge(self.switch, given)
        else:
            replace(self.switch, given, is_whole=resource.kind is not Kind.ENTRY)
        return HttpResponse(201 if is_new else 204)

    def _patch(self, resource: Resource, body: bytes) -> HttpResponse:
        if resource.kind in (Kind.ENTRY, Kind.LEAF):
            self._row_of(resource)
        merge(self.switch, self._given(resource, body))
        return HttpResponse(204)

    def _post(self, resource: Resource, body: bytes) -> HttpResponse:
        """A new entry of a table; tables themselves are there always."""
        if resource.kind is not Kind.TABLE or resource.table is None:
            raise RestconfError("data-exists", "the tables are there; post an entry to one of them")
        table = resource.table
        row = _only(self._payloads.read(body, "list", table.name))
        key = tuple(row[each] for each in table.keys)
        if self.switch.row(table, key) is not None:
            raise RestconfError("data-exists", f"{table.list_name}={','.join(key)} is there already")
        merge(self.switch, {table.name: [row]})
        place = f"{ROOT}/data/{MODULE}:{MODULE}/{table.name}/{table.list_name}={quote(key[0], safe='')}"
        return HttpResponse(201, headers={"Location": place})

    def _delete(self, resource: Resource, body: bytes) -> HttpResponse:
        if resource.kind in (Kind.ENTRY, Kind.LEAF):
            self._row(resource)
        if resource.table is not None and resource.leaf in resource.table.keys:
            raise RestconfError("invalid-value", "a key goes with its entry alone")
        delete(self.switch, resource)
        return HttpResponse(204)

    def _row_of(self, resource: Resource) -> dict[str, Any]:
        """The entry that is named, or that a leaf is of; 404 where it is not there."""
        return self._row(Resource(Kind.ENTRY, resource.table, resource.key))

    def _given(self, resource: Resource, body: bytes) -> dict[str, list[dict[str, Any]]]:
        """Rows of a body by table; those of an entry must have its key."""
        table = resource.table
        if table is None:
            held = self._payloads.read(body, "module")
            return {name: rows.get(self.switch.tables[name].list_name, []) for name, rows in held.items()}
        if resource.kind is Kind.TABLE:
            return {table.name: self._payloads.read(body, "table", table.name).get(table.list_name, [])}
        own = dict(zip(table.keys, resource.key, strict=True))
        if resource.kind is Kind.LEAF:
            value = self._payloads.read(body, "leaf", f"{table.name}/{resource.leaf}")
            row = {**own, resource.leaf: value}
        else:
            row = _only(self._payloads.read(body, "list", table.name))
        if any(row[each] != own[each] for each in table.keys):
            raise RestconfError("invalid-value", f"the key of the body is not {','.join(resource.key)} of the path")
        return {table.name: [row]}


def _only(rows: list[dict[str, Any]]) -> dict[str, Any]:
    if len(rows) != 1:
        raise RestconfError("invalid-value", f"give one entry, not {len(rows)}")
    return rows[0]


def _allowed(resource: Resource) -> tuple[str, ...]:
    """Methods of a resource."""
    if resource.kind is Kind.RPC:
        return ("OPTIONS", "POST")
    if resource.kind in WELL_KNOWN or resource.kind in (Kind.DATA, Kind.LIST) or resource.is_state:
        return READ
    if resource.kind in (Kind.ENTRY, Kind.LEAF):
        return (*READ, "PUT", "PATCH", "DELETE")
    return (*READ, "PUT", "PATCH", "POST", "DELETE")


def _content(query: str) -> str:
    """The query parameter `content`; others are not offered."""
    if not query:
        return "all"
    given = parse_qsl(query, keep_blank_values=True)
    if not given:
        return "all"
    if len(given) > 1 or given[0][0] != "content" or given[0][1] not in CONTENT:
        raise RestconfError("invalid-value", f"'{query}': only content={'|'.join(CONTENT)} is taken")
    return given[0][1]


WELL_KNOWN: dict[Kind, Any] = {
    Kind.ROOT: {"ietf-restconf:restconf": {"data": {}, "operations": {}, "yang-library-version": VERSION}},
    Kind.VERSION: {"ietf-restconf:yang-library-version": VERSION},
    Kind.OPERATIONS: {"ietf-restconf:operations": {f"{MODULE}:{RPC}": [None]}},
    Kind.LIBRARY: {
        "ietf-yang-library:yang-library": {
            "module-set": [{"name": "all", "module": [{"name": MODULE, "revision": REVISION, "namespace": NAMESPACE}]}],
            "content-id": REVISION,
        }
    },
}
