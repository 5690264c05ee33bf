"""Every shipped instance loads, matches the schema, and the schema is the one the code generates."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from planner.candidates.expand import expand
from planner.cli import main
from planner.model.instance import Instance

FOLDER = Path(__file__).parent.parent / "instances"
SCHEMA = FOLDER / "schema.json"
RESULTS = FOLDER / "best_known.json"
PUBLISHED = FOLDER / "published"
"""experiments of papers, which are no instances"""
CLUSTERS = FOLDER / "replay"
"""clusters to replay demand on, which are no instances"""
PAGES = FOLDER / "mcdla"
"""page problems, which are a file type of their own"""
TOPOLOGIES = FOLDER / "topologies"
"""networks whose collectives are synthesized, likewise"""
FILES = sorted(
    path
    for path in FOLDER.rglob("*")
    if path.suffix in (".json", ".yaml", ".yml")
    and path not in (SCHEMA, RESULTS)
    and not {PUBLISHED, CLUSTERS, PAGES, TOPOLOGIES} & {*path.parents}
)


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def _raw(path: Path) -> Any:
    """The file as it is written, before any unit is read."""
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)


def test_there_are_instances() -> None:
    assert FILES


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_an_instance_loads_and_every_job_has_a_candidate(path: Path) -> None:
    instance = Instance.load(path)
    assert instance.all_jobs
    assert [options.job.name for options in expand(instance).options if not len(options)] == []


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_an_instance_matches_the_schema(path: Path, validator: Draft202012Validator) -> None:
    assert [f"{error.json_path}: {error.message}" for error in validator.iter_errors(_raw(path))] == []


def test_the_schema_is_the_one_that_the_code_generates(capsys: pytest.CaptureFixture[str]) -> None:
    """To renew it: planner schema > instances/schema.json."""
    assert main(["schema"]) == 0
    assert SCHEMA.read_text(encoding="utf-8") == capsys.readouterr().out


@pytest.mark.slow
def test_the_schema_is_valid_and_refuses_what_it_should(validator: Draft202012Validator) -> None:
    Draft202012Validator.check_schema(validator.schema)
    good = _raw(FILES[0])
    for wrong in (good | {"jobs": "many"}, good | {"colour": "red"}, {**good, "cluster": None}):
        assert list(validator.iter_errors(wrong))
