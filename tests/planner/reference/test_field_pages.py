"""Pages of fields: every object of every file has its table, once."""

import re

from planner.reference.field_pages import instance_page, other_files_page
from planner.reference.fields import ROOT, objects_of
from planner.reference.file_kinds import FILE_KINDS, json_schema


def test_every_object_stands_once() -> None:
    headings = re.findall(r"^### (\w+)(?:: `\w+`)?$", instance_page() + other_files_page(), re.MULTILINE)
    objects = {name for kind in FILE_KINDS for name in objects_of(json_schema(kind), kind)} - {ROOT}
    assert sorted(headings) == sorted(objects)


def test_every_field_of_an_instance_is_a_row() -> None:
    rows = re.findall(r"^\| `([^`]+)` \|", instance_page(), re.MULTILINE)
    fields = [field.key for each in objects_of(json_schema("instance"), "instance").values() for field in each.fields]
    assert rows == fields
