"""Fields told for people: none is left out, none without a meaning, and what is said of them is what files accept."""

import pytest
from pydantic import BaseModel, TypeAdapter

from costmodel.fabrics import Lightpath
from costmodel.hardware.device import Device
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.job import Job
from planner.reference.fields import ROOT, Object, at_path, matching, objects_of
from planner.reference.file_kinds import FILE_KINDS, FileKind, json_schema


def of(kind: FileKind) -> dict[str, Object]:
    return objects_of(json_schema(kind), kind)


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_every_field_has_a_meaning_and_a_type(kind: FileKind) -> None:
    fields = [(each.name, field) for each in of(kind).values() for field in each.fields]
    assert len(fields) >= 10
    assert [(name, field.key) for name, field in fields if not (field.meaning and field.type)] == []
    assert [each.name for each in of(kind).values() if not each.meaning] == []


@pytest.mark.parametrize(
    ("model", "name"), [(Instance, ROOT), (Job, "Job"), (Lightpath, "Lightpath"), (Device, "Device")]
)
def test_the_keys_are_those_of_the_model(model: type[BaseModel], name: str) -> None:
    keys = {field.serialization_alias or field.alias or key for key, field in model.model_fields.items()}
    assert {field.key for field in of("instance")[name].fields} == keys


def test_shown_defaults_and_examples_are_read_as_the_model_has_them() -> None:
    fields = {field.key: field for field in of("instance")["Lightpath"].fields}
    for key, given in Lightpath.model_fields.items():
        shown = fields[given.serialization_alias or given.alias or key]
        adapter: TypeAdapter[object] = TypeAdapter(given.rebuild_annotation())
        if shown.default not in ("", "required") and isinstance(given.default, float | int):
            assert adapter.validate_python(shown.default) == pytest.approx(given.default)
        if shown.example:
            assert adapter.validate_python(shown.example) is not None
    assert fields["servers"].default == "required"
    assert fields["loss_per_tile"].default == "0 dB"


def test_a_path_leads_through_kinds() -> None:
    objects = of("instance")
    assert [each.kind for each in at_path(objects, "cluster.fabric")] == [
        "lightpath", "fat_tree", "ocs_rail", "torus", "sipac", "sipam", "divided_ports", "memory_ring",
    ]  # fmt: skip
    assert [each.name for each in at_path(objects, "cluster.fabric.torus.switches")] == ["SwitchesConfig"]
    assert [each.name for each in at_path(objects, "jobs.accelerators")] == ["Range"]
    assert at_path(objects, "") == (objects[ROOT],)


def test_an_unknown_key_names_those_that_there_are() -> None:
    with pytest.raises(
        InputError, match=r"cluster\.fibre: there is no object 'fibre'; objects stand at device, fabric, health"
    ):
        at_path(of("instance"), "cluster.fibre")
    with pytest.raises(InputError, match="nothing stands below it"):
        at_path(of("instance"), "jobs.accelerators.min")


def test_a_word_finds_keys_and_meanings() -> None:
    found = {(each.name, field.key) for each, field in matching(of("instance"), "WAVELENGTH")}
    assert {("Lightpath", "wavelengths_per_tile"), ("Health", "failed_lasers")} <= found
