"""planner spares: how many spare parts a promised goodput needs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.commands.replay import Failures
from planner.cli.exits import PLAN
from planner.cli.fault_inputs import SERVERS_HELP
from planner.cli.inputs import AsJson
from planner.cli.output import console, number, percent, print_json, table
from planner.model.errors import InputError

if TYPE_CHECKING:
    from planner.studies.spares import Goodput, SparesNeeded

DAY_S = 86400.0
ClusterPath = Annotated[Path, typer.Argument(metavar="CLUSTER", help="A cluster, or an instance on one.")]
FaultsPath = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Fault log: columns day, server, event (start, end), class."),
]
RulesOfFaults = Annotated[
    str,
    typer.Option(
        metavar="KEY=VALUE,...",
        help=f"How servers of --faults lie here: {SERVERS_HELP}.",
    ),
]
Promised = Annotated[
    float, typer.Option("--goodput", metavar="SHARE", help="Promised share of the time that parts work, such as 0.99.")
]
Days = Annotated[float, typer.Option(min=0.1, max=1e5, help="Length of each drawn stretch of time.")]
Seeds = Annotated[int, typer.Option(min=1, max=10_000, help="Stretches; 2 or more give intervals.")]


def spares(
    cluster: ClusterPath,
    faults: FaultsPath = None,
    goodput: Promised = 0.99,
    failures: Failures = None,
    fault_rules: RulesOfFaults = "servers=draw",
    days: Days = 365.0,
    seeds: Seeds = 20,
    as_json: AsJson = False,
) -> int:
    """Count the spare parts that a promised goodput needs: the fewest accelerators or servers, by a fault log, and
    fibers, switches, ports and memory units, by the rates of --failures.

    Spares come out of the cluster and fail like all others. What jobs lose when they restart is not in it:
    `planner replay --faults` with spares=N among its rules has it.
    """
    from planner.cli.fault_inputs import faults_of
    from planner.model.cluster import load_cluster
    from planner.model.files import load
    from planner.studies.spares import spares_needed
    from planner.whatif.failure_model import FailureModel

    if faults is None and failures is None:
        raise InputError("--faults", "", "is missing, and so is --failures; give a fault log, rates of parts, or both")
    given = faults_of(failures, faults, "repair", fault_rules)
    assert given is not None
    for key, value in (("spares", given.rules.spares), ("checkpoint", given.rules.checkpoint_s)):
        if value:
            raise InputError("--fault-rules", key, "is a rule of `planner replay` alone; leave it out")
    on = load_cluster(cluster)
    given.require(cluster.stem, on)
    rates = None if failures is None else load(FailureModel, failures)
    found = spares_needed(on, given, rates, goodput, days * DAY_S, seeds)
    if as_json:
        print_json({"goodput": goodput, "days": days, "seeds": seeds, "spares": [_record(each) for each in found]})
    else:
        _print(found, goodput, days, seeds)
    return PLAN


def _record(found: "SparesNeeded") -> dict[str, object]:
    needed = found.needed
    return vars(found) | {"without": vars(found.without), "needed": None if needed is None else vars(needed)}


def _print(found: "list[SparesNeeded]", goodput: float, days: float, seeds: int) -> None:
    """A line for each kind."""
    out = console()
    out.print(f"promised {percent(goodput)} of the time   {seeds} drawn stretches of {days:g} days", soft_wrap=True)
    names = ["spare", "parts", "out at once", "at most", "works without", "spares", "works with them"]
    lines = []
    for each in found:
        needed = ["none do", "-"] if each.needed is None else [str(each.needed.spares), _shown(each.needed)]
        figures = [str(each.parts), number(each.mean_out), str(each.most_out), _shown(each.without), *needed]
        lines.append([each.kind, *figures])
    out.print(table(names, lines, right=names[1:]))


def _shown(found: "Goodput") -> str:
    """Three digits after the point, since what is promised is near 100 %."""
    around = "" if found.half_width is None else f" ± {100 * found.half_width:.3f}"
    return f"{100 * found.mean:.3f}{around} %"
