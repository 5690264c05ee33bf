"""`planner schema` shows every field of a file that users write: its unit, default and meaning."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from planner.controller import Settings
from planner.model.instance import Instance
from planner.model.plan import Plan
from tests.planner.cli.conftest import Planner

FILES = {
    "settings": "Settings", "slurm": "SlurmConfig", "kubernetes": "Kubernetes", "prices": "Prices",
    "failures": "FailureModel",
}  # fmt: skip
TOLD = {
    "Settings", "Quota", "SlurmConfig", "HookSwitches", "Kubernetes", "Prices", "PartPrices", "FailureModel",
    "PartFailures",
}  # fmt: skip


def _models(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {document["title"]: document, **document.get("$defs", {})}


@pytest.mark.slow
@pytest.mark.parametrize(("file", "model"), FILES.items())
def test_every_field_says_what_it_means(planner: Planner, file: str, model: str) -> None:
    document = planner("schema", file).document
    Draft202012Validator.check_schema(document)
    models = _models(document)
    assert document["title"] == model
    undescribed = {
        f"{name}.{field}"
        for name in TOLD & set(models)
        for field, about in models[name]["properties"].items()
        if "description" not in about and field != "kind"
    }
    assert undescribed == set()


def test_times_say_their_unit_and_default(planner: Planner) -> None:
    about = planner("schema", "settings").document["properties"]["patience"]
    assert about["default"] == Settings().patience_s == 86400
    number, text = about["anyOf"]
    assert (number["type"], number["description"]) == ("number", "in s")
    assert (text["type"], text["description"]) == ("string", "with its unit, such as '12 h'")
    assert set(planner("schema", "settings").document["properties"]) == {
        name.removesuffix("_s").removesuffix("_bytes") for name in Settings.model_fields
    }


@pytest.mark.parametrize(("given", "said"), [(("colour",), "is not one of"), (("slurm", "--plan"), "leave them out")])
def test_what_has_no_schema(planner: Planner, given: tuple[str, ...], said: str) -> None:
    outcome = planner("schema", *given)
    assert outcome.code == 2
    assert said in outcome.err
    assert "Value error" not in outcome.err


@pytest.mark.parametrize("command", [("serve",), ("slurm",), ("slurm", "run"), ("kubernetes",)])
def test_help_names_it(planner: Planner, command: tuple[str, ...]) -> None:
    assert "planner schema" in " ".join(planner(*command, "--help").out.replace("│", " ").split())


@pytest.mark.parametrize(("option", "model"), [((), Instance), (("--plan",), Plan)])
def test_schema_has_the_keys_of_files(planner: Planner, option: tuple[str, ...], model: Any) -> None:
    document = planner("schema", *option).document
    assert document["$schema"].startswith("https://json-schema.org/")
    assert document["title"] == model.__name__
    assert "schema_version" in document["properties"]
    name, key = ("Circuit", "from") if option else ("Lightpath", "alpha")
    assert key in document["$defs"][name]["properties"]
