"""Read a JSON or YAML file into a Spec, with errors that name file, field and remedy."""

from planner.model.files.headers import header_hint
from planner.model.files.readings import warn_of_missing_units
from planner.model.files.texts import MAX_FILE_BYTES, load, parse_data, parse_text, read_fields, read_text, validate

__all__ = [
    "MAX_FILE_BYTES", "header_hint", "load", "parse_data", "parse_text", "read_fields", "read_text",
    "validate", "warn_of_missing_units",
]  # fmt: skip
