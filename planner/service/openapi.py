"""The description of the service in OpenAPI: bodies that are read by hand are described by their models too."""

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

REFERENCE = "#/components/schemas/{model}"
KEY = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"}
SAID_OF_KEY = "The same key and request again: the recorded answer, nothing happens twice."
NO_TOKEN: dict[str, Any] = {"security": []}
"""of routes that anybody may ask"""


def body_of(*models: type[BaseModel], is_required: bool = True) -> dict[str, Any]:
    """The body of a route, which is one of these."""
    schemas = [{"$ref": REFERENCE.format(model=model.__name__)} for model in models]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    return {"requestBody": {"required": is_required, "content": {"application/json": {"schema": schema}}}}


def parameters_of(name: str | None = None) -> dict[str, Any]:
    """Parameters of an event beside its body: its key, and the name in its path with its description."""
    found = [{"name": "Idempotency-Key", "in": "header", "required": False, "schema": KEY, "description": SAID_OF_KEY}]
    if name is not None:
        schema = {"type": "string", "minLength": 1}
        found.append({"name": "name", "in": "path", "required": True, "schema": schema, "description": name})
    return {"parameters": found}


def describe(app: FastAPI, bodies: Sequence[type[BaseModel]]) -> None:
    """Make the description of an application, once, with these models of bodies and the token."""
    described: dict[str, Any] = {}

    def openapi() -> dict[str, Any]:
        if not described:
            found = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            _, models = models_json_schema([(model, "validation") for model in bodies], ref_template=REFERENCE)
            components = found.setdefault("components", {})
            components["schemas"] = models["$defs"] | components.get("schemas", {})
            components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            found["security"] = [{"token": []}]
            described.update(found)
        return described

    app.openapi = openapi  # type: ignore[method-assign]
