"""What the form shows of a file, valid or not."""

import pytest

from planner.model.edit import failed_parts
from planner.model.files import parse_text
from planner.model.instance import Instance
from planner.studio.form import failed_names, form_of, without_part
from planner.whatif.failures import damaged, parse_failures
from tests.planner.studio.served import GOLDEN


@pytest.mark.slow
def test_fields_of_the_fabric_have_meanings_and_stand_as_they_are_written() -> None:
    form = form_of(parse_text(GOLDEN, "golden"))
    fields = {each["key"]: each for each in form["fields"]}
    assert fields["wavelength_bandwidth"]["value"] == "75 GB/s"
    assert fields["wavelength_bandwidth"]["path"] == ["cluster", "fabric", "wavelength_bandwidth"]
    assert fields["device"]["value"] == "h100-sxm"
    assert fields["racks"]["default"] == "1"
    assert not fields["racks"]["is_given"]
    assert [each["key"] for each in form["fields"]].index("energy") < [each["key"] for each in form["fields"]].index(
        "racks"
    )
    assert all(each["meaning"] for each in form["fields"])
    assert [(job["name"], job["accelerators"], job["weight"], job["limits"]) for job in form["jobs"]] == [
        ("four", "4", "4", None), ("three", "3", "3", None),
    ]  # fmt: skip
    assert "kind" not in fields


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        {},
        {"jobs": 3, "cluster": "x"},
        {"jobs": [None, {"workload": 3}], "cluster": {"fabric": {"kind": "none"}, "health": []}},
        {"cluster": {"fabric": [1], "health": {"failed_tiles": None, "failed_fibers": [{}], "unknown": [{}]}}},
    ],
)  # fmt: skip
def test_what_is_no_instance_has_a_form_too(data: dict[str, object]) -> None:
    form = form_of(data)
    assert form["failed"] == []
    assert len(form["jobs"]) == (len(data["jobs"]) if isinstance(data.get("jobs"), list) else 0)  # type: ignore[arg-type]


def test_jobs_of_a_table_are_named_and_limits_are_those_of_services() -> None:
    assert form_of({"jobs": "jobs.csv"})["jobs_in"] == "jobs.csv"
    job = {"name": "chat", "workload": {"kind": "transformer_inference", "model": "m", "limits": {"ttft": "1 s"}}}
    assert form_of({"jobs": [job]})["jobs"][0]["limits"] == "{ttft: 1 s}"
    assert (
        form_of({"jobs": [{"name": "chat", "workload": {"kind": "transformer_inference"}}]})["jobs"][0]["limits"] == ""
    )


def test_failed_parts_have_the_names_that_fail_them() -> None:
    names = ["s0.t1", "s0.t2:port", "s0>s1#0", "s1.t0:w3", "s1.t1:rx:w2"]
    instance = Instance.parse(parse_text(GOLDEN, "golden"))
    broken = damaged(instance, parse_failures(instance.cluster, names))
    health = broken.cluster.health.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    assert failed_names(health) == names
    for name in names:
        health = without_part(health, name)
    assert health == {}
    assert len(failed_parts(broken)) == len(names)
