"""Read what the commands are given, and refuse early what cannot be written later."""

import math
import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.candidates.named_errors import naming as naming
from planner.cli.standard_output import go_on_without_output
from planner.model.clock import Clock
from planner.model.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from planner.cli.outputs import Output
    from planner.fabrics.problem import Problem
    from planner.model.instance import Instance
    from planner.model.plan import Plan


def _finite(value: float) -> float:
    """No time limit may be inf or nan."""
    if not math.isfinite(value):
        raise typer.BadParameter(f"{value} is no number of seconds")
    return value


def _share(given: str | float) -> float:
    """1% or 0.01; a default comes as a number."""
    text = str(given)
    number = text.strip().removesuffix("%")
    try:
        share = float(number) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        raise typer.BadParameter(f"'{text}' is no share; give one such as 1% or 0.01") from None
    if not 0 <= share < 1:
        raise typer.BadParameter(f"{text} is not from 0 to below 100 %")
    return share


INSTANCE = typer.Argument(metavar="INSTANCE", help="Instance file, YAML or JSON.")
InstancePath = Annotated[Path, INSTANCE]
MaybeInstancePath = Annotated[Path | None, INSTANCE]
TimeLimit = Annotated[
    float,
    typer.Option("--time-limit", min=0.0, metavar="S", callback=_finite, help="Seconds to search at most."),
]
Gap = Annotated[
    float,
    typer.Option(
        "--gap",
        parser=_share,
        metavar="SHARE",
        help="Stop once the value is proven to be within this share of the best, such as 1% or 0.01.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, max=2**31 - 1, help="Seed of all randomness.")]
Threads = Annotated[
    int | None,
    typer.Option("--threads", min=1, max=512, help="Threads of the solver; all cores unless given."),
]
POLICIES = (
    "cpsat", "first_fit", "best_fit", "server_aligned", "random_fit", "sipam_loop", "torus_slices", "bcube_slices"
)  # fmt: skip
"""all of this package, so that help and shells need no solver"""
POLICY_NAMES = f"{', '.join(POLICIES[:-1])} or {POLICIES[-1]}"
"""the same in words"""
PlanOut = Annotated[
    Path | None, typer.Option("--plan-out", "--output", "-o", metavar="FILE", help="Write the plan as JSON.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]


def load_problem(path: Path, clock: Clock | None = None) -> "tuple[Instance, Problem]":
    """An instance and its scored candidates, of as many jobs as a time limit allows that begins with the clock; on a
    terminal how far pricing is, and sizes that are left out, are told on stderr."""
    from planner.candidates.expand import expand
    from planner.cli.progress import pricing
    from planner.model.instance import Instance

    instance = Instance.load(path)
    _tell_too_large(instance)
    with naming(path, instance), pricing() as on_priced:
        if clock is None:
            return instance, expand(instance, on_priced=on_priced)
        from planner.pipeline import listing

        whole, last = listing(clock, instance)
        return instance, expand(instance, clock=whole, last=last, on_priced=on_priced)


def _tell_too_large(instance: "Instance") -> None:
    """A line for each job of which a size is left out."""
    from planner.model.too_large import told_too_large

    for job in instance.all_jobs:
        if told := told_too_large(instance, job):
            print(f"notice: jobs[{job.name}].accelerators: {told}", file=sys.stderr)


def load_in_time(path: Path, limit_s: float) -> "tuple[Problem, float]":
    """An instance with candidates of as many jobs as a time limit allows, and the seconds that are left for a search
    before its plan is checked."""
    from planner.pipeline import searching_s

    clock = Clock.of(limit_s)
    problem = load_problem(path, clock)[1]
    return problem, searching_s(clock, limit_s, len(problem.options))


def load_plan(path: Path, instance: "Instance") -> "Plan":
    """A plan that names jobs of the instance alone, each once."""
    from planner.model.plan import Plan

    plan = Plan.load(path)
    names = {job.name for job in instance.all_jobs}
    times = Counter(assignment.job for assignment in plan.assignments)
    for job, number in times.items():
        field = f"assignments[{job}]"
        if job not in names:
            raise InputError(str(path), field, f"'{instance.name}' has no such job; give the plan of this instance")
        if number > 1:
            raise InputError(str(path), field, "the plan has this job twice; give a plan that passes `planner check`")
    return plan


def load_checked_plan(path: Path, instance: "Instance") -> "Plan":
    """A plan of the instance that breaks no rule."""
    from planner.checks import check

    plan = load_plan(path, instance)
    for violation in check(instance, plan):
        raise InputError(str(path), violation.where, f"{violation.message}; `planner check` lists all rules")
    return plan


def require_job(path: Path, instance: "Instance", name: str) -> str:
    """The name of a job of the instance."""
    try:
        return instance.job(name).name
    except InputError as error:
        raise InputError(str(path), "JOB", error.problem) from None


def refuse_given(context: typer.Context, names: frozenset[str], why: str) -> None:
    """Raise InputError for the first of the parameters that is given on the command line, where it has no meaning."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in names and source is not None and source.name == "COMMANDLINE":
            raise InputError(parameter.opts[0], "", why)


def require_policy(name: str, option: str) -> str:
    """The name of a policy that exists."""
    from planner.policies import find_policy

    try:
        find_policy(name)
    except InputError as error:
        raise InputError(option, f"'{name}'", error.problem) from None
    return name


def require_writable(path: Path | None, option: str, output: "Output | None" = None) -> None:
    """InputError, before anything is computed, for a file that cannot be written, or that holds something else."""
    if path is None:
        return
    go_on_without_output()
    folder = path.parent
    if path.is_dir():
        problem = "is a directory; name a file in it"
    elif not folder.is_dir():
        problem = f"the folder {folder} does not exist; create it first"
    elif not os.access(path if path.exists() else folder, os.W_OK):
        problem = "may not be written; choose another place"
    elif output is not None and _is_other(path, output):
        problem = f"exists and is not {output.name}, so it is not overwritten; choose another name, or remove it first"
    elif output is not None and (wrong := output.wrong_ending(path)) is not None:
        problem = wrong
    else:
        return
    raise InputError(str(path), option, problem)


def require_new(path: Path | None, option: str, *, force: bool) -> None:
    """InputError for a file that cannot be written, or that is there and may be somebody's own work."""
    require_writable(path, option)
    if path is not None and path.exists() and not force:
        raise InputError(str(path), option, "exists already; choose another name or give --force")


def require_not_given(path: Path | None, option: str, *given: Path | None) -> None:
    """InputError for an output that is an input, too, which would be lost."""
    if path is not None and path.resolve() in {each.resolve() for each in given if each is not None}:
        raise InputError(str(path), option, "is an input of this command, which would be lost; name another file")


def _is_other(path: Path, output: "Output") -> bool:
    """True if a file holds anything but an earlier output of this kind."""
    if not path.is_file() or path.stat().st_size == 0 or not os.access(path, os.R_OK):
        return False
    return not output.is_one(path)


def write_text(path: Path, text: str) -> None:
    """Write a file as UTF-8; InputError where that fails."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(str(path), "", f"cannot be written: {error.strerror}") from None


def write_records(path: Path, records: "Sequence[Mapping[str, object]]") -> None:
    """Write records of equal keys: Parquet by its suffix, else CSV."""
    from planner.tables import csv_text, write_parquet

    if path.suffix == ".parquet":
        write_parquet(path, records)
    else:
        write_text(path, csv_text(records))
