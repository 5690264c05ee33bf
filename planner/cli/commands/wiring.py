"""planner wiring: which port of which optical switch leads where."""

from math import prod
from pathlib import Path
from typing import Annotated

import typer

from costmodel.wording import counted
from planner.cli import exits
from planner.cli.exits import EXIT_CODES
from planner.cli.inputs import AsJson, Seed, require_new, require_not_given, require_writable, write_text
from planner.cli.interrupt import stop_on_interrupt
from planner.cli.output import console, plain, print_json, table
from planner.cli.outputs import SHIFTS
from planner.cli.progress import telling
from planner.model.errors import InputError

MOST_CHIPS = 4096
"""of a slice whose wiring is looked for"""

ClusterPath = Annotated[Path, typer.Argument(metavar="CLUSTER", help="A cluster, or an instance on it.")]

wiring = typer.Typer(
    help="Write or check tables of cables (which port of a switch leads to which accelerator, face, tray or uplink), "
    "and find wirings of slices.",
    no_args_is_help=True,
)


@wiring.command(epilog=EXIT_CODES)
def new(
    cluster: ClusterPath,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="CSV file to write.")],
    loss: Annotated[float | None, typer.Option(min=0.0, max=60.0, metavar="DB", help="Of each cable.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> int:
    """Write the cables of a fabric, ports numbered in order: the first input of a switch is 1A, its first output 1B.
    A file that is there is kept unless --force is given: it may have been corrected by hand."""
    from planner.integrations.wiring.cables import CableTable
    from planner.model.cluster import load_cluster

    require_not_given(output, "--output", cluster)
    require_new(output, "--output", force=force)
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
    out, every = console(), counted(len(given.cables), "cable")
    if found:
        out.print(table(("fault", "where"), [(fault.kind, fault.message) for fault in found]))
    out.print(
        f"{every}, {len(found):,} to mend" if found else f"{every} {'holds' if len(given.cables) == 1 else 'hold'}"
    )
    return exits.VIOLATIONS if found else exits.PLAN


@wiring.command(epilog=EXIT_CODES)
def shifts(
    sides: Annotated[str, typer.Option(metavar="AxBxC", help="Chips along each axis of a cube.")],
    cubes: Annotated[str, typer.Option(metavar="AxBxC", help="Cubes along each axis of the slice, the most first.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="JSON file to write.")],
    seed: Seed = 0,
    starts: Annotated[int, typer.Option(min=1, max=10_000, help="Random wirings to begin from.")] = 20,
    whole_faces: Annotated[
        bool,
        typer.Option("--whole-faces", help="Shifts of its own for each place of a face; else they repeat."),
    ] = False,
) -> int:
    """Look for shifts of the lines of a slice of cubes that let an all-to-all run fast, for `switches.line_shifts`.

    Ctrl-C ends the search with the best wiring so far.
    """
    from costmodel.fabrics.twisted import least_of_any_wiring
    from planner.synthesis.line_shifts import ShiftSearch, search_line_shifts

    require_writable(output, "--output", SHIFTS)
    side, number = _extents(sides, "--sides", 2), _extents(cubes, "--cubes", 1)
    ranks = prod(side) * prod(number)
    if prod(number) < 2 or ranks > MOST_CHIPS:
        raise InputError("--cubes", "", f"slices have at least two cubes and {MOST_CHIPS:,} chips at most; not {cubes}")
    tell = telling("starts")
    with stop_on_interrupt("the best wiring so far") as is_stopped:
        search = ShiftSearch(seed, starts, whole=whole_faces)
        found = search_line_shifts(side, number, search, lambda done, of: tell(done, of, None), is_stopped)
    write_text(output, found.shifts.to_json())
    rows = [("this wiring", found.on_link), ("any routing over it", found.bound)]
    rows.append(("any wiring of six links", least_of_any_wiring(ranks)))
    out = console()
    out.print(table(("least of", "bytes on the busiest link"), [(name, f"{load:.4f}") for name, load in rows]))
    out.print(f"of an all-to-all of one byte on each of {ranks:,} chips; wrote {plain(str(output))}")
    return exits.PLAN


def _extents(text: str, option: str, least: int) -> tuple[int, int, int]:
    """Three numbers of an option such as 4x4x4."""
    numbers = [int(each) for each in text.split("x") if each.isascii() and each.isdigit()]
    if len(numbers) != 3 or text.count("x") != 2 or min(numbers) < least:
        raise InputError(option, "", f"three numbers from {least} are needed, such as 4x4x4; not {text!r}")
    return numbers[0], numbers[1], numbers[2]
