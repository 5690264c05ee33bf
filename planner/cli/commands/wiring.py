"""planner wiring: which port of which optical switch leads where."""

from pathlib import Path
from typing import Annotated

import typer

from costmodel.wording import counted
from planner.cli import exits
from planner.cli.exits import EXIT_CODES
from planner.cli.inputs import AsJson, require_not_given, require_writable, write_text
from planner.cli.output import print_json, table
from planner.cli.outputs import WIRING

ClusterPath = Annotated[Path, typer.Argument(metavar="CLUSTER", help="A cluster, or an instance on it.")]

wiring = typer.Typer(
    help="Tables of cables: which port of which optical switch leads to which accelerator, face, tray or uplink.",
    no_args_is_help=True,
)


@wiring.command(epilog=EXIT_CODES)
def new(
    cluster: ClusterPath,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="CSV file to write.")],
    loss: Annotated[float | None, typer.Option(min=0.0, max=60.0, metavar="DB", help="Of each cable.")] = None,
) -> int:
    """Write the cables of a fabric, ports numbered in order: the first input of a switch is 1A, its first output 1B."""
    from planner.integrations.wiring.cables import CableTable
    from planner.model.cluster import load_cluster

    require_writable(output, "--output", WIRING)
    require_not_given(output, "--output", cluster)
    cables = CableTable.of(load_cluster(cluster).fabric, loss)
    write_text(output, cables.to_csv())
    switches = len({cable.switch for cable in cables.cables})
    of = counted(switches, "switch", many="switches")
    print(f"wrote {counted(len(cables.cables), 'cable')} of {of} into {output}")
    return exits.PLAN


@wiring.command(epilog=EXIT_CODES)
def check(
    cluster: ClusterPath,
    cables: Annotated[Path, typer.Argument(metavar="WIRING", help="Table of cables, CSV or Parquet.")],
    seen: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What switches report at their ports: columns switch, port and end."),
    ] = None,
    max_loss: Annotated[
        float | None, typer.Option(min=0.0, metavar="DB", help="That both cables of a circuit may lose.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Find missing, doubled, unknown and miswired ports, and cables that lose too much; exit code 1 if any is."""
    from planner.integrations.wiring.cables import CableTable, seen_ends
    from planner.integrations.wiring.faults import faults_of
    from planner.model.cluster import load_cluster

    fabric, given = load_cluster(cluster).fabric, CableTable.load(cables)
    found = faults_of(fabric, given, None if seen is None else seen_ends(seen), max_loss)
    if as_json:
        print_json({"ok": not found, "cables": len(given.cables), "faults": [vars(fault) for fault in found]})
        return exits.VIOLATIONS if found else exits.PLAN
    from planner.cli.output import console

    out, every = console(), counted(len(given.cables), "cable")
    if found:
        out.print(table(("fault", "where"), [(fault.kind, fault.message) for fault in found]))
    out.print(
        f"{every}, {len(found):,} to mend" if found else f"{every} {'holds' if len(given.cables) == 1 else 'hold'}"
    )
    return exits.VIOLATIONS if found else exits.PLAN
