"""Bulk updates that are done in part, or told otherwise."""

from planner.integrations.switch_emulator import FaultKind, RequestClass
from tests.planner.integrations.switch_emulator.switches import ALL, before_fault, names


def test_half_is_done_and_the_rest_is_named() -> None:
    made = before_fault(RequestClass.BULK, FaultKind.HALF)
    status, body = made.bulk(delete=ALL, add=["1A-2B", "2A-1B"])
    output = body["sonic-ocs:output"]
    assert status == 200
    assert output["deleted_count"] + output["added_count"] + len(output["failed_keys"]) == 5
    assert names(made) == set(ALL) - set(ALL[: output["deleted_count"]]) | set(
        ["1A-2B", "2A-1B"][: output["added_count"]]
    )


def test_lies_tell_of_what_was_not_done_or_nothing_of_what_was() -> None:
    seen = set()
    for seed in range(12):
        made = before_fault(RequestClass.BULK, FaultKind.LIE, seed)
        output = made.bulk(delete=ALL)[1]["sonic-ocs:output"]
        assert "failed_keys" not in output
        seen.add((output["deleted_count"], bool(names(made))))
    assert seen == {(3, True), (0, False)}
