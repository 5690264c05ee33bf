"""Only a table that is there, or plainly empty, is read: another answer would pass for a switch with nothing on."""

from typing import Any

import pytest

from planner.integrations.switch_drivers.ocs.tables import CrossConnectRow, list_of, tables_of

ROW = {"cross_connect_id": "1A-4B", "a_side": "1A", "b_side": "4B"}
NAME = "OCS_CROSS_CONNECT_LIST"


@pytest.mark.parametrize(
    "answer",
    [
        {NAME: [ROW]},
        {f"sonic-ocs:{NAME}": [ROW]},
        {"sonic-ocs:OCS_CROSS_CONNECT": {NAME: [ROW]}},
        {"sonic-ocs:sonic-ocs": {"OCS_PORT": {}, "OCS_CROSS_CONNECT": {NAME: [ROW]}}, "@": {"x:etag": "1"}},
    ],
)
def test_the_list_is_found_wherever_it_stands(answer: dict[str, Any]) -> None:
    assert tables_of(answer).rows == {"1A-4B": CrossConnectRow("1A-4B", "1A", "4B")}


@pytest.mark.parametrize(
    "answer",
    [{}, {NAME: []}, {NAME: None}, {"OCS_CROSS_CONNECT": {}}, {"a:OCS_CROSS_CONNECT": None}, {"x": {}, "@x": {"y": 1}}],
)
def test_what_holds_nothing_is_empty(answer: dict[str, Any]) -> None:
    assert list_of(answer, NAME) == []


@pytest.mark.parametrize(
    "answer",
    [
        {"ietf-restconf:errors": {"error": [{"error-tag": "operation-failed"}]}},
        {"error": "busy"},
        {"sonic-ocs:OCS_CROSS_CONNECT": [{NAME: [ROW]}]},
        {"sonic-ocs:OCS_CROSS_CONNECT": {"rows": [ROW]}},
    ],
)
def test_what_says_something_else_is_no_empty_table(answer: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is not in what was answered"):
        tables_of(answer)
