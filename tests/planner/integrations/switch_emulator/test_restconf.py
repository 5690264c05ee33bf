"""RESTCONF by RFC 8040: methods, paths, media types, errors."""

from typing import Any

import pytest

from tests.planner.integrations.switch_emulator.switches import BULK, TABLES, Rig, entry, rig

CIRCUITS = f"{TABLES}/OCS_CROSS_CONNECT"
ENTRY = f"{CIRCUITS}/OCS_CROSS_CONNECT_LIST"


@pytest.fixture
def made() -> Rig:
    return rig()


def one(name: str) -> dict[str, Any]:
    return {"sonic-ocs:OCS_CROSS_CONNECT_LIST": [entry(name)]}


def error_of(said: tuple[int, Any]) -> tuple[int, str]:
    (error,) = said[1]["ietf-restconf:errors"]["error"]
    return said[0], error["error-tag"]


def test_an_entry_is_put_read_patched_and_deleted(made: Rig) -> None:
    assert made.said("PUT", f"{ENTRY}=1A-2B", one("1A-2B")) == (201, None)
    assert made.said("PUT", f"{ENTRY}=1A-2B", one("1A-2B")) == (204, None)
    assert made.said("GET", f"{ENTRY}=1A-2B") == (200, one("1A-2B"))
    assert made.said("GET", f"{ENTRY}=1A-2B/b_side") == (200, {"sonic-ocs:b_side": "2B"})
    assert made.said("PATCH", f"{ENTRY}=1A-2B/b_side", {"sonic-ocs:b_side": "3B"}) == (204, None)
    assert made.said("GET", ENTRY)[1]["sonic-ocs:OCS_CROSS_CONNECT_LIST"][0]["b_side"] == "3B"
    assert made.said("DELETE", f"{ENTRY}=1A-2B/b_side") == (204, None)
    assert error_of(made.said("GET", f"{ENTRY}=1A-2B/b_side")) == (404, "invalid-value")
    assert made.said("DELETE", f"{ENTRY}=1A-2B") == (204, None)
    assert made.rows("OCS_CROSS_CONNECT") == []
    assert made.states() == {}


def test_a_post_makes_an_entry_once_and_says_where(made: Rig) -> None:
    answer = made.ask("POST", CIRCUITS, one("1A-2B"))
    assert answer is not None
    assert (answer.status, answer.headers["Location"]) == (201, f"{ENTRY}=1A-2B")
    assert error_of(made.said("POST", CIRCUITS, one("1A-2B"))) == (409, "data-exists")


def test_all_data_and_its_halves(made: Rig) -> None:
    _, body = made.said("GET", "/restconf/data")
    everything = body["ietf-restconf:data"]["sonic-ocs:sonic-ocs"]
    assert list(everything) == [
        "OCS_PORT", "OCS_CROSS_CONNECT", "OCS_PORT_TABLE", "OCS_CROSS_CONNECT_TABLE",
        "OCS_FACTORY_INSERTION_LOSS_TABLE",
    ]  # fmt: skip
    _, config = made.said("GET", f"{TABLES}?content=config")
    assert list(config["sonic-ocs:sonic-ocs"]) == ["OCS_PORT", "OCS_CROSS_CONNECT"]
    assert made.said("GET", f"{TABLES}/OCS_PORT_TABLE?content=config") == (204, None)


def test_roots_tell_what_is_there(made: Rig) -> None:
    assert made.said("GET", "/restconf/operations")[1] == {
        "ietf-restconf:operations": {"sonic-ocs:bulk-update": [None]}
    }
    assert made.said("GET", "/restconf/yang-library-version")[0] == 200
    _, library = made.said("GET", "/restconf/data/ietf-yang-library:yang-library")
    assert library["ietf-yang-library:yang-library"]["module-set"][0]["module"][0]["revision"] == "2024-11-21"
    answer = made.ask("OPTIONS", CIRCUITS)
    assert answer is not None
    assert answer.headers["Allow"].split(", ")[-1] == "DELETE"


@pytest.mark.parametrize(
    ("method", "path", "body", "wanted"),
    [
        ("GET", "/restconf/data/sonic-ocs:sonic-ocs/OCS_NOTHING", None, (404, "invalid-value")),
        ("GET", "/restconf/data/sonic-ocs", None, (404, "invalid-value")),
        ("GET", f"{ENTRY}=9A-9B", None, (404, "invalid-value")),
        ("GET", f"{CIRCUITS}/OCS_CROSS_CONNECT_LIST/a_side", None, (400, "invalid-value")),
        ("GET", f"{CIRCUITS}?depth=1", None, (400, "invalid-value")),
        ("DELETE", f"{ENTRY}=9A-9B", None, (404, "invalid-value")),
        ("PATCH", f"{ENTRY}=1A-2B", one("1A-2B"), (404, "invalid-value")),
        ("PUT", f"{ENTRY}=1A-2B", one("1A-3B"), (400, "invalid-value")),
        ("PUT", f"{ENTRY}=1A-2B", {"sonic-ocs:OCS_CROSS_CONNECT_LIST": []}, (400, "invalid-value")),
        ("PUT", f"{ENTRY}=1A-2B", {"OCS_CROSS_CONNECT_LIST": [entry("1A-2B")]}, (400, "missing-element")),
        ("PUT", f"{TABLES}/OCS_PORT_TABLE", {}, (405, "operation-not-supported")),
        ("DELETE", "/restconf/data", None, (405, "operation-not-supported")),
        ("GET", BULK, None, (405, "operation-not-supported")),
        ("POST", CIRCUITS, b"{", (400, "malformed-message")),
        ("POST", BULK, {"sonic-ocs:input": {"remove": ["1A-2B"]}}, (400, "unknown-element")),
        ("POST", BULK, {"sonic-ocs:input": {"delete": "1A-2B"}}, (400, "invalid-value")),
        ("POST", BULK, {"sonic-ocs:input": {"add": [{"cross_connect_id": "x", "a_side": "1A"}]}},
         (400, "missing-element")),
        ("POST", BULK, {"sonic-ocs:input": {"add": [entry("1A-2B"), entry("1A-2B")]}}, (400, "invalid-value")),
        ("POST", BULK, {"sonic-ocs:input": {"add": [{**entry("1A-2B"), "status": "enabled"}]}},
         (400, "unknown-element")),
        ("PUT", f"{TABLES}/OCS_PORT/OCS_PORT_LIST=1A/config_status", {"sonic-ocs:config_status": "open"},
         (400, "invalid-value")),
        ("DELETE", f"{TABLES}/OCS_PORT/OCS_PORT_LIST=1A/simplex_port_id", None, (400, "invalid-value")),
    ],
)  # fmt: skip
def test_what_is_refused_changes_nothing(made: Rig, method: str, path: str, body: Any, wanted: tuple[int, str]) -> None:
    assert error_of(made.said(method, path, body)) == wanted
    assert made.rows("OCS_CROSS_CONNECT") == []


def test_media_types_are_those_of_yang(made: Rig) -> None:
    assert made.said("POST", BULK, {"sonic-ocs:input": {}}, content_type="text/plain")[0] == 415
    assert made.said("GET", CIRCUITS, accept="application/yang-data+xml")[0] == 406
    assert made.said("GET", CIRCUITS, accept="text/html, application/yang-data+json;q=0.5")[0] == 200


def test_an_rpc_without_input_does_nothing(made: Rig) -> None:
    assert made.said("POST", BULK) == (200, {"sonic-ocs:output": {"deleted_count": 0, "added_count": 0}})
