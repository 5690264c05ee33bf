"""Names and conditions of Slices."""

import re
from typing import Any

import pytest

from planner.integrations.slices.objects import OWNER, SliceObject, base_name, names_of

SPEC = {"type": "tpu7x", "topology": "4x4x8", "partitionIds": ["a", "b"]}


def item(name: str = "x", *, conditions: Any = (), generation: int = 1, **about: Any) -> SliceObject:
    metadata = {"name": name, "uid": "u", "generation": generation} | about
    return SliceObject({"metadata": metadata, "spec": SPEC, "status": {"conditions": list(conditions)}})


def condition(kind: str, status: str, reason: str = "R", observed: int | None = 1) -> dict[str, Any]:
    seen = {} if observed is None else {"observedGeneration": observed}
    return {"type": kind, "status": status, "reason": reason, "message": "m"} | seen


@pytest.mark.parametrize("job", ["team/train", "9", "-", "A" * 100, "team/a-b", "team-a/b", "é"])
def test_names_are_those_that_gke_takes(job: str) -> None:
    for name in (*names_of(job, 1), *names_of(job, 1000)):
        assert re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", name)
        assert len(name) <= 49
        assert item(name).is_of(job)


def test_no_two_jobs_have_a_name_in_common() -> None:
    names = [base_name(job) for job in ("a/b-c", "a-b/c", "a/b/c", "a-b-c", "A-b-c")]
    assert len({*names}) == len(names)
    assert not item(names[0]).is_of("a-b/c")
    assert not item(f"{names[0]}-x").is_of("a/b-c")


def test_an_owner_counts_only_with_its_name() -> None:
    assert item(base_name("j"), annotations={OWNER: "j"}).owner == "j"
    assert item(base_name("k"), annotations={OWNER: "j"}).owner == ""
    assert item(base_name("j")).owner == ""


@pytest.mark.parametrize(
    ("conditions", "about", "is_ready", "has_failed"),
    [
        ([], {}, False, False),
        ([condition("Ready", "True", "ACTIVE")], {}, True, False),
        ([condition("Ready", "True", "ACTIVE", None)], {"generation": 3}, True, False),
        ([condition("Ready", "True", "ACTIVE")], {"generation": 2}, False, False),
        ([condition("Ready", "True")], {"deletionTimestamp": "t"}, False, False),
        ([condition("Ready", "False", "ACTIVATING")], {}, False, False),
        ([condition("Ready", "Unknown", "FAILED")], {}, False, True),
        ([condition("Ready", "False", "FAILED")], {"generation": 2}, False, False),
        ([condition("Ready", "False", "FAILED")], {"deletionTimestamp": "t"}, False, False),
        ([condition("SliceCreationFailed", "True")], {}, False, True),
        ([condition("SliceCreationFailed", "False"), condition("Ready", "True")], {}, True, False),
    ],
)
def test_what_conditions_say(conditions: Any, about: dict[str, Any], is_ready: bool, has_failed: bool) -> None:
    found = item(conditions=conditions, **about)
    assert (found.is_ready, found.has_failed) == (is_ready, has_failed)


def test_a_spec_is_the_same_in_any_order_and_with_fields_of_later_versions() -> None:
    found = SliceObject({"metadata": {"name": "x"}, "spec": SPEC | {"more": 1, "partitionIds": ["b", "a"]}})
    assert found.has_spec(SPEC)
    for parts in ({"type": "v6e"}, {"topology": "4x4x4"}, {"partitionIds": ["a"]}, {"partitionIds": ["a", "b", "b"]}):
        assert not SliceObject({"metadata": {"name": "x"}, "spec": SPEC | parts}).has_spec(SPEC)
