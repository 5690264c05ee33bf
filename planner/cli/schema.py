"""planner schema: the JSON Schema that editors complete instances from."""

from typing import Annotated

import typer

from planner.cli.output import print_json


def schema(
    plan: Annotated[bool, typer.Option("--plan", help="The schema of plans instead.")] = False,
) -> int:
    """Print the JSON Schema of instances, with the keys as they are written in files."""
    from planner.instance import Instance
    from planner.plan import Plan

    model = Plan if plan else Instance
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    print_json(dialect | model.model_json_schema(by_alias=True))
    return 0
