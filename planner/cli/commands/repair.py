"""planner repair: what to do with a plan after parts failed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from costmodel.wording import counted
from planner.cli import exits
from planner.cli.inputs import (
    AsJson,
    InstancePath,
    Seed,
    Threads,
    TimeLimit,
    load_plan,
    naming,
    require_not_given,
    require_writable,
    write_text,
)
from planner.cli.output import console, number, plain, print_json, quantity, table
from planner.cli.outputs import PLAN
from planner.model.errors import InputError

if TYPE_CHECKING:
    from planner.whatif.repair import Repair

PlanPath = Annotated[Path, typer.Argument(metavar="PLAN", help="Plan that runs, or the JSON of `planner solve`.")]
Failed = Annotated[
    list[str],
    typer.Option(
        "--failed",
        metavar="PART",
        help="A part that failed, such as s3.t2, an accelerator; may be given several times. A name that no part has "
        "is answered with the nearest one, and with one part of each kind of the fabric.",
    ),
]
Output = Annotated[
    Path | None, typer.Option("--plan-out", "--output", "-o", metavar="FILE", help="Write the repaired plan as JSON.")
]


def repair(
    instance: InstancePath,
    plan: PlanPath,
    failed: Failed,
    output: Output = None,
    time_limit: TimeLimit = 10.0,
    seed: Seed = 0,
    threads: Threads = None,
    as_json: AsJson = False,
) -> int:
    """Repair a running plan after failures: the fewest ranks move, then the fewest circuits change.

    What needs no failed part stays as it is. A lost rank enters a free device at once where there is one.
    Otherwise ranks of other jobs make room, and if that cannot be, one job runs smaller, elsewhere, or not at all.
    The repaired plan is checked.
    """
    require_writable(output, "--output", PLAN)
    require_not_given(output, "--output", plan)
    from planner.checks import check
    from planner.cpsat.repair import RepairLimits
    from planner.model.instance import Instance
    from planner.whatif.repair import repair as mend_plan

    loaded = Instance.load(instance)
    running = load_plan(plan, loaded)
    limits = RepairLimits(time_limit_s=time_limit, seed=seed, workers=threads)
    require_whole(plan, loaded, running)
    with naming(instance, loaded), _naming_option():
        found = mend_plan(loaded, running, failed, limits=limits)
        violations = list(check(found.instance, found.plan)) if found.plan is not None else []
    if found.plan is not None and violations:
        from planner.cli.refused import withhold

        return withhold(loaded.name, found.instance, found.plan, violations, document(found), as_json=as_json)
    print_json(document(found)) if as_json else _show(found)
    if found.plan is not None and output is not None:
        write_text(output, found.plan.model_dump_json(indent=1) + "\n")
    return exits.PLAN if found.plan is not None else exits.NO_PLAN


@contextmanager
def _naming_option() -> Iterator[None]:
    """Errors in the name of a failed part as errors of the option, not of the instance."""
    try:
        yield
    except InputError as error:
        if error.where == "failed":
            raise InputError("--failed", error.field, error.problem) from None
        raise


def require_whole(path: Path, instance: Any, plan: Any) -> None:
    """InputError for a plan that breaks a rule on its instance before anything more failed."""
    from planner.checks import check
    from planner.model.errors import InputError

    violations = check(instance, plan)
    if violations:
        first = violations[0]
        raise InputError(str(path), first.where, f"{first.message}; give a plan that passes `planner check`")


def document(found: "Repair") -> dict[str, Any]:
    """JSON of a plan that the check accepts, or of none."""
    steps = found.transition
    return {
        "outcome": found.outcome,
        "failures": [vars(failure) for failure in found.failures],
        "moves": [vars(move) for move in found.moves],
        "least_moves": found.least_moves,
        "changed_circuits": found.changed_circuits,
        "least_changes": found.least_changes,
        "is_fewest": found.is_fewest,
        "dropped": list(found.dropped),
        "resized": list(found.resized),
        "lost_value": found.lost_value,
        "is_impossible_without_loss": found.is_impossible,
        "torn_down": steps.num_torn_down if steps is not None else None,
        "set_up": steps.num_set_up if steps is not None else None,
        "stages": len(steps.stages) if steps is not None else None,
        "paused": list(steps.paused) if steps is not None else [],
        "disturbed": list(steps.disturbed) if steps is not None else [],
        "time_s": steps.time_s if steps is not None else None,
        "wall_time_s": found.wall_time_s,
        "plan": found.plan.model_dump(mode="json") if found.plan is not None else None,
        "violations": [],
    }


def _show(found: "Repair") -> None:

    out = console()
    for failure in found.failures:
        out.print(plain(failure.words), soft_wrap=True)
    out.print(plain(found.in_words(number)), soft_wrap=True)
    if found.moves:
        rows = [(m.job, str(m.rank), m.source or "-", m.destination) for m in found.moves]
        out.print(table(("job", "rank", "from", "to"), rows, right=("rank",)))
    if found.transition is not None:
        steps = found.transition
        parts = [
            f"{counted(len(found.moves), 'rank')} moved",
            f"{counted(steps.num_torn_down, 'circuit')} torn down, {steps.num_set_up} set up",
            f"{counted(len(steps.stages), 'stage')}, {quantity(steps.time_s, 's')}",
            f"found in {quantity(found.wall_time_s, 's')}",
            "checked: 0 violations",
        ]
        out.print(" · ".join(parts), soft_wrap=True)
