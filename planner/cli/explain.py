"""planner explain: why a job is out, and what would change it."""

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.inputs import AsJson, InstancePath, Seed, TimeLimit, Workers, naming
from planner.cli.output import console, plain, print_json


def explain(
    instance: InstancePath,
    job: Annotated[str, typer.Argument(metavar="JOB", help="Name of the job.")],
    plan: Annotated[
        Path | None, typer.Option(metavar="PLAN", help="Plan to explain; solved anew unless given.")
    ] = None,
    time_limit: TimeLimit = 30.0,
    seed: Seed = 0,
    workers: Workers = None,
    as_json: AsJson = False,
) -> int:
    """Say why a job does not run, or what it would cost to run it. Statements marked verified were solved."""
    from planner.explain import explain as ask
    from planner.instance import Instance
    from planner.plan import Plan
    from planner.result import SolveOptions

    loaded = Instance.load(instance)
    loaded.job(job)
    given = Plan.load(plan) if plan is not None else None
    options = SolveOptions(time_limit_s=time_limit, seed=seed, workers=workers)
    with naming(instance, loaded):
        explanation = ask(loaded, job, plan=given, time_limit_s=time_limit, options=options)
    statements = [{"text": each.text, "verified": each.verified} for each in explanation.statements]
    if as_json:
        print_json(
            {"job": job, "tag": explanation.tag, "headline": explanation.headline, "statements": statements}
        )
        return 0
    out = console()
    out.print(plain(explanation.headline))
    for each in explanation.statements:
        out.print(f"  {plain(each.text)}{'  (verified)' if each.verified else ''}")
    return 0
