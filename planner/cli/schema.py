"""planner schema: the JSON Schema that editors complete instances from."""

from typing import Annotated

import typer

from planner.cli.output import print_json


def schema(
    plan: Annotated[bool, typer.Option("--plan", help="The schema of plans instead.")] = False,
    pages: Annotated[bool, typer.Option("--pages", help="Of what `planner pages` reads and writes.")] = False,
) -> int:
    """Print the JSON Schema of instances, with the keys as they are written in files."""
    from planner.instance import Instance
    from planner.page_files.instance import PageInstance
    from planner.page_files.plan import PagePlan
    from planner.plan import Plan

    of_instance, of_plan = (PageInstance, PagePlan) if pages else (Instance, Plan)
    model = of_plan if plan else of_instance
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    print_json(dialect | model.model_json_schema(by_alias=True))
    return 0
