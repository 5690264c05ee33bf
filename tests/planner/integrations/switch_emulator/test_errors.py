"""Bodies of errors."""

import json

from planner.integrations.switch_emulator.errors import RestconfError


def test_an_error_is_one_of_restconf() -> None:
    error = RestconfError("missing-element", "no a_side", path="/sonic-ocs:input/add[1]/a_side")
    (found,) = json.loads(error.body)["ietf-restconf:errors"]["error"]
    assert (error.status, found) == (400, {
        "error-type": "protocol", "error-tag": "missing-element", "error-path": "/sonic-ocs:input/add[1]/a_side",
        "error-message": "no a_side",
    })  # fmt: skip


def test_where_a_status_says_more_than_its_tag() -> None:
    assert RestconfError("invalid-value", "not there", status=404).status == 404
    assert (
        "error-path" not in json.loads(RestconfError("data-exists", "twice").body)["ietf-restconf:errors"]["error"][0]
    )
