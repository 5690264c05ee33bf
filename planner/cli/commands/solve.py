"""planner solve: who runs, how, where, over which circuits, and how good that is."""

import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from costmodel.wording import counted
from planner.cli import exits
from planner.cli.inputs import (
    AsJson,
    Gap,
    InstancePath,
    PlanOut,
    Seed,
    Threads,
    TimeLimit,
    load_in_time,
    naming,
    refuse_given,
    require_policy,
    require_writable,
    write_text,
)
from planner.cli.interrupt import stop_on_interrupt
from planner.cli.output import console, print_json, to_json
from planner.cli.outputs import PICTURE, PLAN, WEB_PAGE
from planner.cli.solve_options import (
    OF_SEARCH,
    Deterministic,
    Hint,
    PagesTimeLimit,
    Plot,
    PolicyName,
    Ray,
    Report,
    Survive,
    WiringPath,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planner.fabrics.problem import Problem
    from planner.fabrics.switch_ports import End
    from planner.model.plan import Plan
    from planner.model.result import Result
    from planner.whatif.survive import Survival


def solve(
    context: typer.Context,
    instance: InstancePath,
    policy: PolicyName = "cpsat",
    time_limit: TimeLimit = 60.0,
    pages_time_limit: PagesTimeLimit = 5.0,
    gap: Gap = 0.0,
    seed: Seed = 0,
    threads: Threads = None,
    deterministic: Deterministic = None,
    ray: Ray = None,
    hint: Hint = None,
    survive: Survive = 0,
    plan_out: PlanOut = None,
    report: Report = None,
    wiring: WiringPath = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> int:
    """Plan an instance: who runs, in which configuration, on which devices, over which circuits.

    Better plans and bounds are shown as they are found. Ctrl-C stops with the best plan so far, Ctrl-C again
    quits. Every plan is checked by code that knows nothing of the solver before it is shown.
    """
    outputs, started = _outputs(context, policy, plan_out, report, plot, wiring), time.perf_counter()
    problem, left_s = load_in_time(instance, time_limit)
    limits = {"time_limit_s": left_s, "pages_time_limit_s": pages_time_limit, "deterministic_limit": deterministic}
    given = {"gap": gap, "seed": seed, "hint": _load_hint(hint, problem), "workers": threads, "ray": ray}
    _print_header(problem, as_json)
    with stop_on_interrupt() as is_asked:
        options = {**given, **limits, "should_stop": is_asked}
        survival = _surviving(instance, problem, policy, options) if survive else None
        result = _search(problem, policy, options, as_json) if survival is None else survival.result
        result = replace(result, wall_time_s=time.perf_counter() - started)
        if (refused := _refused(instance, problem, result, survival, as_json)) is not None:
            return refused
        best_fit = None if as_json and report is None else _best_fit(problem, result, is_asked)
        print_json(document(result, survival)) if as_json else _show(instance, problem, result, survival, best_fit)
        _write(problem, result, best_fit, outputs, is_printed=as_json)
    return _exit_code(result)


def _exit_code(result: "Result") -> int:
    if result.plan is not None:
        return exits.PLAN
    return exits.INFEASIBLE if result.status.value == "INFEASIBLE" else exits.NO_PLAN


def _best_fit(problem: "Problem", result: "Result", should_stop: Callable[[], bool]) -> "Plan | None":
    from planner.explain.best_fit import by_best_fit

    return by_best_fit(problem, result, should_stop)


def _require_searches(context: typer.Context, policy: str) -> None:
    """A policy, and no option of the search for one that does not search."""
    require_policy(policy, "--policy")
    if policy != "cpsat":
        refuse_given(context, OF_SEARCH, f"is of no use to policy {policy}; leave one of the two out")


def _print_header(problem: "Problem", as_json: bool) -> None:
    from planner.cli.tables.summary import header

    if not as_json:
        console().print(header(problem), soft_wrap=True)


def _surviving(path: Path, problem: "Problem", policy: str, options: dict[str, Any]) -> "Survival":
    from planner.cli.commands.survive import search_surviving

    return search_surviving(path, problem, policy, options | {"pages_time_limit_s": None})


class _Outputs(NamedTuple):
    plan: Path | None
    page: Path | None
    plot: Path | None
    port_of: "Mapping[End, str] | None"
    """ports by the wiring, where there is one"""


def _outputs(
    context: typer.Context, policy: str,
    plan_out: Path | None, report: Path | None, plot: Path | None, wiring: Path | None,
) -> _Outputs:  # fmt: skip
    """Refuse what cannot be searched or written before anything is computed."""
    from planner.model.errors import InputError

    _require_searches(context, policy)
    outputs = {"--plan-out": (plan_out, PLAN), "--report": (report, WEB_PAGE), "--plot": (plot, PICTURE)}
    given = [path.absolute() for path, _ in outputs.values() if path is not None]
    for option, (path, kind) in outputs.items():
        require_writable(path, option, kind)
        if path is not None and given.count(path.absolute()) > 1:
            raise InputError(str(path), option, "is named by two options; choose two files")
    if plot is not None:
        from planner.plotting import require_matplotlib

        require_matplotlib()
    if wiring is None:
        return _Outputs(plan_out, report, plot, None)
    from planner.integrations.wiring.cables import CableTable

    if report is None:
        raise InputError("--wiring", str(wiring), "is for the page; give --report FILE too, or leave it out")
    return _Outputs(plan_out, report, plot, CableTable.load(wiring).port_of)


def _load_hint(path: Path | None, problem: "Problem") -> "Plan | None":
    """A plan to start from: one that the check accepts, of configurations that are listed."""
    if path is None:
        return None
    from planner.checks import check
    from planner.model.errors import InputError
    from planner.model.plan import Plan

    plan = Plan.load(path)
    violations = check(problem.instance, plan)
    if violations:
        first = violations[0]
        raise InputError(str(path), first.where, f"{first.message}; a hint must pass `planner check`")
    options = {each.job.name: each for each in problem.options}
    for assignment in plan.assignments:
        if options[assignment.job].row_of(assignment.configuration) is None:
            reason = f"{assignment.job} has a configuration that another one dominates"
            print(f"hint {path} is not used: {reason}", file=sys.stderr)
            return None
    return plan


def _search(problem: "Problem", policy: str, options: dict[str, Any], is_quiet: bool) -> "Result":
    """Run the policy with progress on stdout, or on a terminal's stderr where stdout is for JSON."""
    from planner.cli.progress import Progress
    from planner.pipeline import solve

    stream = sys.stderr if is_quiet else sys.stdout
    on_incumbent = None
    if not is_quiet or stream.isatty():
        levels = tuple(objective.name for objective in problem.instance.objectives)
        on_incumbent = Progress(lambda line: print(line, file=stream, flush=True), levels)
    return solve(problem, policy=policy, on_incumbent=on_incumbent, **options)


def _refused(
    path: Path, problem: "Problem", result: "Result", survival: "Survival | None", as_json: bool
) -> int | None:
    """The exit code where the check refuses the plan; None where it accepts it, or there is none."""
    from planner.checks import check
    from planner.cli.refused import withhold

    if result.plan is None:
        return None
    instance = problem.instance
    with naming(path, instance):
        violations = check(instance, result.plan, starts=True)
    if not violations:
        return None
    return withhold(instance.name, instance, result.plan, violations, document(result, survival), as_json=as_json)


def document(result: "Result", survival: "Survival | None" = None) -> dict[str, Any]:
    """JSON of a plan that the check accepts, or of none; the key `survival` with --survive alone."""
    from planner.cli.commands.survive import document as survival_document
    from planner.cli.versions import versions

    return ({} if survival is None else {"survival": survival_document(survival)}) | {
        "status": result.status.value,
        "objective": result.objective,
        "bound": result.bound,
        "gap": result.gap,
        "wall_time_s": result.wall_time_s,
        "levels": [to_json(vars(level)) for level in result.levels],
        "plan": result.plan.model_dump(mode="json") if result.plan is not None else None,
        "left_out": [vars(left) for left in result.left_out],
        "seed": result.seed,
        "policy": result.policy,
        "statistics": to_json(result.statistics),
        "starts": to_json({name: start.value for name, start in result.starts.items()}),
        "violations": [],
        "versions": versions(),
    }


def _show(
    path: Path, problem: "Problem", result: "Result", survival: "Survival | None", best_fit: "Plan | None"
) -> None:
    from planner.cli.commands.survive import survival_line
    from planner.cli.tables import summary
    from planner.cli.tables.fit_lines import fit_lines
    from planner.cli.tables.jobs_table import MOST_ROWS, jobs_table, phase_lines
    from planner.report.outcome import outcome_of

    out = console()
    if survival is not None:
        out.print(survival_line(survival), soft_wrap=True)
    if result.plan is None:
        out.print(summary.no_plan_line(result, problem, path), soft_wrap=True)
        return
    if result.plan.assignments:
        out.print(jobs_table(problem.instance, result.plan))
        if (rest := len(result.plan.assignments) - MOST_ROWS) > 0:
            out.print(f"and {counted(rest, 'job')} of less value; --plan-out, --json and --report have all of them")
    phases = phase_lines(problem.instance, result.plan)
    fits = fit_lines(problem.instance, result.plan)
    left_out = summary.left_out_lines(result, path, problem.cluster.num_healthy)
    for line in (*left_out, *phases, *summary.second_tier_lines(result.plan), *fits):
        out.print(line, soft_wrap=True)
    outcome = outcome_of(problem.instance, result, best_fit)
    assert outcome is not None
    out.print(summary.outcome_line(outcome), soft_wrap=True)
    out.print(summary.levels_line(result.levels))
    if starts := summary.starts_line(result):
        out.print(starts, soft_wrap=True)
    out.print(summary.totals_line(problem.instance, result.plan, result))


def _write(
    problem: "Problem", result: "Result", best_fit: "Plan | None", outputs: _Outputs, *, is_printed: bool
) -> None:
    """Write the files that were asked for, where there is a plan; one that cannot be written is printed instead."""
    from planner.model.errors import InputError

    if result.plan is None:
        return
    if outputs.plan is not None:
        text = result.plan.model_dump_json(indent=1) + "\n"
        try:
            write_text(outputs.plan, text)
        except InputError:
            if not is_printed:
                print(text)
            raise
    if outputs.page is not None:
        from planner.cli.versions import versions
        from planner.report import report_html

        command = shlex.join(["planner", *sys.argv[1:]])
        given: dict[str, Any] = {"command": command, "versions": versions(), "port_of": outputs.port_of}
        write_text(outputs.page, report_html(problem.instance, result, [], **given, best_fit=best_fit))
    if outputs.plot is not None:
        from planner.plotting.floor_plan import save_floor_plan

        save_floor_plan(outputs.plot, problem.instance, result.plan)
