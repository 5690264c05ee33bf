"""planner new: an instance to start from."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from planner.cli.fabric_option import FabricKind
from planner.cli.inputs import require_writable, write_text
from planner.model.errors import InputError

MAX_SERVERS = 4096


def new(
    fabric: FabricKind,
    servers: Annotated[int, typer.Option(min=1, max=MAX_SERVERS, help="Servers of the rack.")] = 8,
    tiles: Annotated[int, typer.Option(min=1, max=1024, help="Devices of a server; 32 at most with light.")] = 8,
    fibers: Annotated[int, typer.Option(min=0, max=4096, help="Fibers of each ordered pair of servers.")] = 4,
    jobs: Annotated[Path | None, typer.Option(metavar="CSV", help="Jobs, one a row; see above.")] = None,
    device: Annotated[str, typer.Option(help="Device of the catalog.")] = "h100-sxm",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write; stdout unless given."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> int:
    """Write a commented instance that can be solved as it is.

    The CSV file has a header with the columns name, model, kind (training, inference, dlrm_training or
    dlrm_inference) and accelerators (8, 4-16 or 4;8), and any of tenant, weight, required (yes or no), precision,
    global_batch, sequence, concurrency, input_tokens, output_tokens and batch.
    """
    if output is not None:
        require_writable(output, "--output")
        if output.exists() and not force:
            raise InputError(str(output), "--output", "exists already; choose another name or give --force")
    from planner.cli.new_instance import instance_text, read_jobs, require_runnable

    listed = read_jobs(jobs, max_devices=servers * tiles) if jobs is not None else None
    name = output.stem if output is not None else f"{fabric}-{servers}x{tiles}"
    text = instance_text(
        name or "new", fabric=fabric, servers=servers, tiles=tiles, fibers=fibers, device=device, jobs=listed
    )
    require_runnable(text, str(jobs or "the new instance"))
    if output is None:
        sys.stdout.write(text)
    else:
        write_text(output, text)
        print(f"wrote {output}; next: planner solve {shlex.quote(str(output))}", file=sys.stderr)
    return 0
