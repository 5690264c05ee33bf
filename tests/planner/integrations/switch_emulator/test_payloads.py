"""Payloads against the node tree in YANG, judged by a YANG library that knows nothing of this emulator."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from yangson import DataModel
from yangson.enumerations import ContentType, ValidationScope
from yangson.exceptions import YangsonException
from yangson.instance import RootNode

from planner.integrations.switch_emulator import FaultKind, FaultRate, RequestClass
from planner.integrations.switch_emulator.errors import RestconfError
from planner.integrations.switch_emulator.node_tree import MODULE, NAMESPACE, REVISION, VOCABULARIES
from planner.integrations.switch_emulator.payloads import Payloads
from tests.planner.integrations.switch_emulator.switches import BULK, TABLES, entry, rig

LIBRARY = {
    "name": MODULE, "revision": REVISION, "namespace": NAMESPACE, "conformance-type": "implement",
}  # fmt: skip
MODEL = DataModel(
    json.dumps({"ietf-yang-library:modules-state": {"module-set-id": "1", "module": [LIBRARY]}}),
    [str(Path(__file__).parent)],
)
RPC = dict(zip(("input", "output"), MODEL.get_schema_node("/sonic-ocs:bulk-update").children, strict=True))  # type: ignore[union-attr]
PAYLOADS = Payloads(VOCABULARIES["oper_status"])


def holds(body: Any) -> bool:
    """Whether YANG accepts a body with a member of the module, or input or output of its RPC."""
    (name,) = body
    shape = name.removeprefix("sonic-ocs:")
    try:
        if shape in RPC:
            node = RPC[shape]
            value = node.from_raw(body[name], f"/{name}")
            RootNode(value, node, MODEL.schema_data, value.timestamp).validate(ValidationScope.all, ContentType.all)
        else:
            MODEL.from_raw(body).validate(ValidationScope.all, ContentType.all)
    except YangsonException:
        return False
    return True


def test_all_that_is_answered_holds() -> None:
    made = rig(*(FaultRate(RequestClass.BULK, kind, 0.1) for kind in (FaultKind.HALF, FaultKind.LIE, FaultKind.CHANGE)))
    chance, names = random.Random(0), [f"{a}A-{b}B" for a in range(1, 5) for b in range(1, 5)]
    for _ in range(40):
        status, output = made.bulk(chance.sample(names, 4), chance.sample(names, chance.randrange(4)))
        assert status == 200
        assert holds(output)
        made.clock.now_s += chance.choice((0.001, 0.01))
        _, body = made.said("GET", TABLES)
        del body["sonic-ocs:sonic-ocs"]["OCS_FACTORY_INSERTION_LOSS_TABLE"]
        assert holds(body)
    assert holds(made.said("GET", TABLES)[1]), "losses of the factory too"


def test_the_model_is_strict() -> None:
    assert not holds({"sonic-ocs:output": {"failed": []}})
    assert not holds({"sonic-ocs:sonic-ocs": {"OCS_CROSS_CONNECT_TABLE": {"OCS_CROSS_CONNECT_LIST": [
        {"cross_connect_id": "1A-2B", "insertion_loss_dB": 1.23}]}}})  # fmt: skip


WRONG = [
    {"add": [{"cross_connect_id": "1A-2B", "a_side": "1A"}]}, {"add": [{"a_side": "1A", "b_side": "2B"}]},
    {"add": [{**entry("1A-2B"), "label": ""}]}, {"add": entry("1A-2B")}, {"add": [entry("1A-2B")] * 2},
    {"delete": "1A-2B"}, {"delete": [1]}, {"deletes": []}, [], {"add": [{**entry("1A-2B"), "a_side": 1}]},
]  # fmt: skip
RIGHT = [
    {},
    {"delete": []},
    {"delete": ["1A-2B"]},
    {"add": [entry("1A-2B"), entry("any name")]},
    {"delete": [], "add": []},
]


@pytest.mark.parametrize("given", [*WRONG, *RIGHT])
def test_what_comes_in_is_refused_where_yang_refuses_it(given: Any) -> None:
    body = {"sonic-ocs:input": given}
    assert holds(body) == (given in RIGHT)
    status, _ = rig().said("POST", BULK, body)
    assert status == (200 if given in RIGHT else 400)


def test_decimals_and_words_are_those_of_the_tree() -> None:
    table, row = "OCS_PORT", {"simplex_port_id": "1A", "config_status": "tuned"}
    with pytest.raises(RestconfError) as refused:
        PAYLOADS.read(json.dumps({"sonic-ocs:OCS_PORT_LIST": [row]}).encode(), "list", table)
    assert (refused.value.tag, refused.value.path) == (
        "invalid-value", "/sonic-ocs:OCS_PORT_LIST[1]/config_status"
    )  # fmt: skip
