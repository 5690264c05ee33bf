"""planner explain: why a job is out, and what would change it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.inputs import AsJson, InstancePath, Seed, Threads, TimeLimit, load_plan, naming, require_job
from planner.cli.output import console, plain, print_json

if TYPE_CHECKING:
    from planner.explain import Explanation

JobName = Annotated[str, typer.Argument(metavar="JOB", help="Name of the job.")]
PlanPath = Annotated[Path | None, typer.Option(metavar="PLAN", help="Plan to explain; solved anew unless given.")]


def explain(
    instance: InstancePath,
    job: JobName,
    plan: PlanPath = None,
    time_limit: TimeLimit = 30.0,
    seed: Seed = 0,
    threads: Threads = None,
    as_json: AsJson = False,
) -> int:
    """Say why a job does not run, what it would cost to run it, and what would change that.

    Every statement is proven by a solve or a count, unless it says that it is not verified.
    """
    from planner.explain import explain as ask
    from planner.model.instance import Instance
    from planner.model.result import SolveOptions

    loaded = Instance.load(instance)
    require_job(instance, loaded, job)
    given = load_plan(plan, loaded) if plan is not None else None
    options = SolveOptions(time_limit_s=time_limit, seed=seed, workers=threads)
    with naming(instance, loaded):
        explanation = ask(loaded, job, plan=given, time_limit_s=time_limit, options=options)
    if as_json:
        print_json(_document(explanation))
        return 0
    out = console()
    out.print(plain(explanation.headline))
    for each in explanation.statements:
        out.print(f"  {plain(each.text)}{'' if each.is_verified else '  (not verified)'}")
    return 0


def _document(explanation: "Explanation") -> dict[str, Any]:
    """JSON of an explanation."""
    statements = [{"text": each.text, "verified": each.is_verified} for each in explanation.statements]
    return {
        "job": explanation.job,
        "tag": explanation.tag,
        "headline": explanation.headline,
        "statements": statements,
        "cost": explanation.cost,
        "wall_time_s": explanation.wall_time_s,
    }
