"""planner pages: where the tensors of training steps are while they are not used."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from costmodel.wording import counted
from planner.cli import exits
from planner.cli.inputs import AsJson, InstancePath, Seed, Threads, TimeLimit, require_writable, write_text
from planner.cli.output import console, percent, print_json, quantity, seconds, to_json
from planner.cli.outputs import PAGE_PLAN, PICTURE

if TYPE_CHECKING:
    from planner.explain.page_gains import PageGain
    from planner.model.page_instance import PageInstance
    from planner.pages.problem import PageProblem
    from planner.pages.result import PageResult

GAINS_SHARE = 0.4
"""of the time limit, on top of it, for what a little more would save"""
MOST_TENSORS = 60
"""that are shown unless all are asked for"""
JobName = Annotated[str | None, typer.Argument(metavar="[JOB]", help="Show the tensors of this job, the largest ones.")]
Every = Annotated[bool, typer.Option("--all", help="Show every tensor of the job.")]
PolicyName = Annotated[str, typer.Option("--policy", help="cpsat, local, bw_aware, proportional or greedy_keep.")]
PlanOut = Annotated[
    Path | None, typer.Option("--plan-out", "--output", "-o", metavar="FILE", help="Write the placement as JSON.")
]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw streams and memories over time, .png or .svg.")]
PlanIn = Annotated[
    Path | None, typer.Option("--plan", metavar="FILE", help="Show where this plan of a cluster keeps a job's tensors.")
]
Gains = Annotated[bool, typer.Option("--gains/--no-gains", help="Search what 10 % more of each part would save.")]


def pages(
    instance: InstancePath,
    job: JobName = None,
    policy: PolicyName = "cpsat",
    time_limit: TimeLimit = 15.0,
    seed: Seed = 0,
    threads: Threads = None,
    plan_out: PlanOut = None,
    plan_in: PlanIn = None,
    plot: Plot = None,
    gains: Gains = True,
    every: Every = False,
    as_json: AsJson = False,
) -> int:
    """Place the pages of tensors: what is kept, offloaded to which memory, or recomputed, and when it is copied.

    Times are those of the simulated steps. Every placement is checked by code that knows nothing of the solver.
    """
    from planner.cli.commands.plan_pages import planned_pages
    from planner.model.page_instance import PageInstance
    from planner.pages.policies import find_page_policy
    from planner.pages.problem import PageProblem

    require_writable(plan_out, "--plan-out", PAGE_PLAN)
    _require_plot(plot)
    find_page_policy(policy)
    options = {"time_limit_s": time_limit, "seed": seed, "workers": threads}
    if plan_in is not None:
        known = planned_pages(instance, job, plan_in)
        return _tell(known, _gains(known, options) if gains else [], 0, every, plan_out, plot, as_json=as_json)
    loaded = PageInstance.load(instance)
    shown = None if job is None else _number(instance, loaded, job)
    problem = PageProblem.of(loaded)
    result = _search(problem, policy, options, as_json)
    refused = _refused(loaded, result, as_json)
    if refused is not None:
        return refused
    found = _gains(result, options) if gains and result.plan is not None else []
    return _tell(result, found, shown, every, plan_out, plot, as_json=as_json)


def _refused(instance: "PageInstance", result: "PageResult", as_json: bool) -> int | None:
    """The exit code where the check refuses the placement; None where it accepts it, or there is none."""
    from planner.cli.refused import withhold
    from planner.pages.rule_pages import check_pages

    if result.plan is None:
        return None
    violations = check_pages(instance, result.plan)
    if not violations:
        return None
    return withhold(instance.name, instance, result.plan, violations, document(result, []), as_json=as_json)


def _tell(
    result: "PageResult",
    gains: "list[PageGain]",
    shown: int | None,
    every: bool,
    plan_out: Path | None,
    plot: Path | None,
    *,
    as_json: bool,
) -> int:
    """Print the outcome, write the files that were asked for, and return the exit code."""
    if as_json:
        print_json(document(result, gains))
    else:
        _show(result, gains, shown, every)
    _write(result, plan_out, plot, shown or 0)
    if result.placed is not None:
        return exits.PLAN
    return exits.INFEASIBLE if result.status.value == "INFEASIBLE" else exits.NO_PLAN


def _write(result: "PageResult", plan_out: Path | None, plot: Path | None, shown: int) -> None:
    """Write the files that were asked for; the figure shows one job."""
    plan = result.plan
    if plan is not None and plan_out is not None:
        write_text(plan_out, plan.model_dump_json(indent=1) + "\n")
    if plan is not None and plot is not None:
        from planner.plotting.page_tiers import save_page_tiers

        save_page_tiers(plot, result, shown)


def _require_plot(plot: Path | None) -> None:
    require_writable(plot, "--plot", PICTURE)
    if plot is not None:
        from planner.plotting import require_matplotlib

        require_matplotlib()


def _number(path: Path, instance: "PageInstance", name: str) -> int:
    from planner.model.errors import InputError

    try:
        return instance.jobs.index(instance.job(name))
    except InputError as error:
        raise InputError(str(path), "JOB", error.problem) from None


def _search(problem: "PageProblem", policy: str, options: dict[str, Any], is_quiet: bool) -> "PageResult":
    """Run the policy, with progress on stdout unless that is for JSON."""
    from planner.cli.interrupt import stop_on_interrupt
    from planner.cli.progress import Progress
    from planner.model.result import SolveOptions
    from planner.pages.policies import find_page_policy
    from planner.pages.result import OBJECTIVE

    if not is_quiet:
        console().print(header(problem), soft_wrap=True)
    show = Progress(lambda line: print(line, flush=True), (OBJECTIVE,), lambda value: quantity(value, "s"))
    with stop_on_interrupt() as is_asked:
        own = SolveOptions(**options, on_incumbent=None if is_quiet else show, should_stop=is_asked)
        return find_page_policy(policy)(problem, own)


def _gains(result: "PageResult", options: dict[str, Any]) -> "list[PageGain]":
    from planner.explain.page_gains import page_gains
    from planner.model.result import SolveOptions

    limit_s = GAINS_SHARE * options["time_limit_s"]
    return page_gains(result, time_limit_s=limit_s, options=SolveOptions(**options))


def header(problem: "PageProblem") -> str:
    """shared   2 jobs   77 tensors   4,630 pages of 1 MiB   2 memories."""

    tensors = sum(len(task.count) for task in problem.tasks)
    total = sum(int(task.count.sum()) for task in problem.tasks)
    parts = [
        problem.name,
        counted(len(problem.tasks), "job"),
        counted(tensors, "tensor"),
        f"{counted(total, 'page')} of {quantity(problem.page_bytes, 'B')}",
        counted(len(problem.memories), "memory", many="memories"),
    ]
    return "   ".join(parts)


def document(result: "PageResult", gains: "list[PageGain]") -> dict[str, Any]:
    """JSON of a placement that the check accepts, or of none."""
    from planner.cli.versions import versions
    from planner.pages.policies import rule_values_s
    from planner.pages.why import why

    placed, plan = result.placed or (), result.plan
    return {
        "status": result.status.value,
        "objective_s": result.value_s,
        "bound_s": result.bound_s,
        "gap": result.gap,
        "wall_time_s": result.wall_time_s,
        "policy": result.policy,
        "plan": plan.model_dump(mode="json") if plan is not None else None,
        "why": {
            result.problem.tasks[j].name: to_json(vars(why(result.problem.timeline(j, pages))))
            for j, pages in enumerate(placed)
        },
        "policies_s": rule_values_s(result.problem),
        "gains": [to_json(vars(each)) for each in gains],
        "violations": [],
        "versions": versions(),
    }


def _show(result: "PageResult", gains: "list[PageGain]", shown: int | None, every: bool) -> None:
    from planner.cli.tables import page_tables
    from planner.pages.lack import lacking
    from planner.pages.policies import rule_values_s

    out = console()
    if result.placed is None:
        what = "proven that the pages fit nowhere" if result.status.value == "INFEASIBLE" else "no placement found"
        out.print(f"{what}; give more capacity, local memory or time", soft_wrap=True)
        for line in lacking(result.problem):
            out.print(line, soft_wrap=True)
        return
    out.print(page_tables.jobs(result), "", page_tables.memories(result), "", sep="\n")
    if shown is not None:
        out.print(page_tables.tensors(result, shown, None if every else MOST_TENSORS))
        out.print(page_tables.TENSOR_NOTE, "", sep="\n", soft_wrap=True)
    for line in page_tables.waits(result):
        out.print(line, soft_wrap=True)
    out.print("", page_tables.policies(result, rule_values_s(result.problem)), "", sep="\n")
    if gains:
        out.print(page_tables.gains(gains), "", sep="\n")
    proof = "optimal" if result.status.value == "OPTIMAL" else f"gap {percent(result.gap)}"
    line = f"step time {quantity(result.value_s, 's')} ({proof}, bound {quantity(result.bound_s, 's')})"
    out.print(f"{line} · checked: 0 violations · {seconds(result.wall_time_s)}", soft_wrap=True)
