"""planner reconfigure: from what runs to the next plan, without disturbing who runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from costmodel.wording import counted
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
from planner.cli.output import console, plain, print_json, quantity, table
from planner.cli.outputs import PLAN

if TYPE_CHECKING:
    from planner.model.instance import Instance
    from planner.model.plan import Plan
    from planner.whatif.reconfigure import Reconfiguration

FirstPlan = Annotated[
    Path, typer.Argument(metavar="OLD_PLAN", help="Plan that runs; or the new plan, where residents are what runs.")
]
SecondPlan = Annotated[Path | None, typer.Argument(metavar="[NEW_PLAN]", help="Plan that shall run.")]
Output = Annotated[
    Path | None,
    typer.Option("--plan-out", "--output", "-o", metavar="FILE", help="Write the new plan with the light that stays."),
]


def reconfigure(
    instance: InstancePath,
    old_plan: FirstPlan,
    new_plan: SecondPlan = None,
    output: Output = None,
    time_limit: TimeLimit = 10.0,
    seed: Seed = 0,
    threads: Threads = None,
    as_json: AsJson = False,
) -> int:
    """Order the change from one plan to the next in stages that take nothing from a running tenant.

    The new plan keeps its devices and takes over fibers and wavelengths of the old one, so that the fewest
    circuits change. Tenants that wait for each other in a cycle need one of them to pause: the fewest do.
    """
    require_writable(output, "--output", PLAN)
    require_not_given(output, "--output", old_plan, new_plan)
    from planner.cpsat.repair import RepairLimits
    from planner.model.instance import Instance
    from planner.whatif.reconfigure import reconfigure as change

    loaded = Instance.load(instance)
    new = _checked(new_plan or old_plan, loaded)
    old = _checked(old_plan, loaded, is_running=True) if new_plan is not None else None
    limits = RepairLimits(time_limit_s=time_limit, seed=seed, workers=threads)
    with naming(instance, loaded):
        found = change(loaded, new, old, limits=limits)
    if as_json:
        print_json(document(found))
    else:
        _show(found)
    if output is not None:
        write_text(output, found.plan.model_dump_json(indent=1) + "\n")
    return 0


_OF_THE_PLANT = ("listed", "placement", "block", "rack", "circuits", "tile", "path", "loss", "sharing")
"""rules that a plan keeps whoever else runs"""


def _checked(path: Path, instance: "Instance", *, is_running: bool = False) -> "Plan":
    """A plan whose jobs and circuits can be on together; parts that failed since may be part of a running one."""
    from planner.checks import CHECKS
    from planner.model.edit import repaired
    from planner.model.errors import InputError

    plan = load_plan(path, instance)
    judged = repaired(instance) if is_running else instance
    for name in _OF_THE_PLANT:
        for violation in CHECKS[name](judged, plan):
            raise InputError(str(path), violation.where, f"{violation.message}; `planner check` lists all rules")
    return plan


def document(found: "Reconfiguration") -> dict[str, Any]:
    """JSON of a reconfiguration."""
    steps = found.transition
    return {
        "circuits": found.num_circuits,
        "kept": found.kept,
        "most_kept": found.most_kept,
        "changed": found.changed,
        "torn_down": found.torn_down,
        "is_proven": found.is_proven,
        "time_s": steps.time_s,
        "paused": list(steps.paused),
        "least_paused": steps.least_paused,
        "disturbed": list(steps.disturbed),
        "stages": [
            [
                {
                    "job": step.job,
                    "action": step.action,
                    "torn_down": [circuit.model_dump(mode="json") for circuit in step.torn_down],
                    "set_up": [circuit.model_dump(mode="json") for circuit in step.set_up],
                }
                for step in stage
            ]
            for stage in steps.stages
        ],
        "plan": found.plan.model_dump(mode="json"),
    }


def _show(found: "Reconfiguration") -> None:

    out, steps = console(), found.transition
    rows = [
        (str(number), step.action, step.job, str(len(step.torn_down)), str(len(step.set_up)))
        for number, stage in enumerate(steps.stages, start=1)
        for step in stage
    ]
    if rows:
        columns = ("stage", "action", "job", "torn down", "set up")
        out.print(table(columns, rows, right=("stage", "torn down", "set up")))
    proof = "proven" if found.kept == found.most_kept else f"at most {found.most_kept} can stay"
    out.print(f"{found.kept} of {counted(found.num_circuits, 'circuit')} stay ({proof})", soft_wrap=True)
    if steps.paused:
        least = "the fewest" if len(steps.paused) == steps.least_paused else f"at least {steps.least_paused}"
        out.print(plain(f"must pause: {', '.join(steps.paused)} ({least})"), soft_wrap=True)
    if steps.disturbed:
        out.print(plain(f"disturbed: {', '.join(steps.disturbed)}"), soft_wrap=True)
    out.print(f"{counted(len(steps.stages), 'stage')} · {quantity(steps.time_s, 's')}", soft_wrap=True)
