"""planner schema: the JSON Schema that editors complete files from."""

from typing import Annotated, Literal

import typer

from planner.cli.output import print_json
from planner.model.errors import InputError

File = Annotated[
    Literal["instance", "settings", "slurm", "kubernetes", "switches"],
    typer.Argument(
        metavar="[instance|settings|slurm|kubernetes|switches]",
        help="Of an instance; of `--settings` of `planner serve`; of slurm.yaml; of kubernetes.yaml; of switches.yaml.",
    ),
]


def schema(
    of: File = "instance",
    plan: Annotated[bool, typer.Option("--plan", help="The schema of plans instead.")] = False,
    pages: Annotated[bool, typer.Option("--pages", help="Of what `planner pages` reads and writes.")] = False,
) -> int:
    """Print the JSON Schema of a kind of file: every field as it is written, its unit, default and meaning."""
    from planner.controller.settings import Settings
    from planner.integrations.kubernetes.config import Kubernetes
    from planner.integrations.slurm.config import SlurmConfig
    from planner.integrations.switch_drivers.sonic.config import SonicSwitches
    from planner.model.instance import Instance
    from planner.model.page_instance import PageInstance
    from planner.model.page_plan import PagePlan
    from planner.model.plan import Plan

    if of != "instance" and (plan or pages):
        raise InputError("planner schema", of, "has neither --plan nor --pages; leave them out")
    of_instance, of_plan = (PageInstance, PagePlan) if pages else (Instance, Plan)
    models = {
        "instance": of_plan if plan else of_instance,
        "settings": Settings,
        "slurm": SlurmConfig,
        "kubernetes": Kubernetes,
        "switches": SonicSwitches,
    }
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    print_json(dialect | models[of].model_json_schema(by_alias=True))
    return 0
