"""The description of the service is true: requests made from it, valid and not, are answered as it says."""

import json
import os
from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from tests.planner.service.running import BEARER, Running, job, running

EXAMPLES = int(os.environ.get("SERVE_EXAMPLES", "8"))
"""requests of each route; 200 in a long run"""
EXCLUDED = [positive_data_acceptance, negative_data_rejection]
"""that a type is right does not mean that there is such a job; query parameters that mean nothing are let pass"""


@pytest.fixture(scope="module")
def busy() -> Iterator[Running]:
    """A service with jobs that run and wait, and parts that are down."""
    with running() as site:
        for name, size in (("a", 16), ("b", 8), ("c", 32)):
            site.submit(name, size)
        site.client.post("/v1/parts/s3.t7/fail")
        yield site


@pytest.fixture(scope="module")
def described(busy: Running) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_url(f"{busy.client.base_url}/openapi.json", headers=BEARER)


@pytest.mark.slow
def test_answers_are_as_described(described: schemathesis.BaseSchema) -> None:
    """No 500, no status, header or body that is not described, no answer without the token, 405 for other methods."""
    rules = settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    for found in described.get_all_operations():
        operation = found.ok()

        @rules
        @given(case=operation.as_strategy(GenerationMode.POSITIVE) | operation.as_strategy(GenerationMode.NEGATIVE))
        def answers(case: schemathesis.Case) -> None:
            case.call_and_validate(headers=BEARER, excluded_checks=EXCLUDED)

        answers()


def test_the_description_names_all_that_is_needed(busy: Running) -> None:
    text = busy.client.get("/openapi.json").text
    described = json.loads(text)
    assert described["openapi"].startswith("3.")
    assert described["components"]["securitySchemes"] == {"token": {"type": "http", "scheme": "bearer"}}
    operations = {(method, path): o for path, item in described["paths"].items() for method, o in item.items()}
    for (method, path), operation in operations.items():
        assert operation.get("description"), path
        is_open = operation.get("security") == []
        assert is_open == (path in ("/healthz", "/")), path
        assert is_open or {"401", "429", "503"} <= set(operation["responses"]), path
        if method != "get" and not path.startswith(("/scheduler", "/v1/ask")):
            assert any(each["name"] == "Idempotency-Key" for each in operation["parameters"]), path
    assert {"$ref": "#/components/schemas/Request"} in _body(operations["post", "/v1/jobs"])["anyOf"]
    names = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert names <= set(described["components"]["schemas"])


def _body(operation: dict[str, object]) -> dict[str, list[object]]:
    found: dict[str, list[object]] = operation["requestBody"]["content"]["application/json"]["schema"]  # type: ignore[index]
    return found


@pytest.mark.slow
def test_answers_of_a_full_life_fit_their_types(busy: Running) -> None:
    """Decisions of every kind, which random requests rarely bring about."""
    import jsonschema

    described = busy.client.get("/openapi.json").json()
    validators = {
        name: jsonschema.Draft202012Validator({"$ref": f"#/components/schemas/{name}", **described})
        for name in ("Answer", "News", "JobBody", "JobList")
    }
    client = busy.client
    answers = [
        client.post("/v1/jobs", json=job("urgent", 24, priority=9)),
        client.post("/v1/parts/s0.t0/fail"),
        client.post("/v1/parts/s0.t0/repair"),
        client.post("/v1/jobs", json={"jobs": [job("x", 2), job("y", [4, 8])]}),
        client.delete("/v1/jobs/urgent"),
        client.post("/v1/replan"),
    ]
    for answer in answers:
        assert answer.status_code == 200, answer.text
        validators["Answer"].validate(answer.json())
    validators["News"].validate(client.get("/v1/decisions").json())
    validators["JobList"].validate(client.get("/v1/jobs").json())
    validators["JobBody"].validate(client.get("/v1/jobs/y").json())
    events = client.get("/v1/decisions").json()["events"]
    kinds = {decision["d"] for event in events for decision in event["decisions"]}
    assert {"start", "stop", "wait"} <= kinds
