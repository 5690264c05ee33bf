"""Each kind of file has a meaning, and a schema that its commands print."""

import jsonschema
import pytest

from planner.model.plan import Plan
from planner.reference.file_kinds import FILE_KINDS, MEANINGS, FileKind, json_schema


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_a_schema_is_a_valid_one(kind: FileKind) -> None:
    schema = json_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"]
    assert MEANINGS[kind]


def test_the_schema_of_plans_accepts_a_plan() -> None:
    jsonschema.validate(Plan(instance="rack").model_dump(mode="json"), json_schema("plan"))
