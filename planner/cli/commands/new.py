"""planner new: an instance to start from."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from costmodel.counts import MOST_FIBERS, MOST_SERVERS
from planner.cli import completions
from planner.cli.fabric_option import FabricKind
from planner.cli.inputs import require_new, write_text

MAX_ACCELERATORS = 2**20
SIZES = {"servers": 8, "tiles": 8, "fibers": 4}
"""of a rack, unless given"""

Servers = Annotated[int | None, typer.Option(min=1, max=MOST_SERVERS, show_default="8", help="Servers of the rack.")]
Tiles = Annotated[
    int | None,
    typer.Option(min=1, max=1024, show_default="8", help="Accelerators of a server; at most 32 on lightpath."),
]
Fibers = Annotated[
    int | None, typer.Option(min=0, max=MOST_FIBERS, show_default="4", help="Fibers of each ordered pair of servers.")
]
Jobs = Annotated[
    str | None, typer.Option(metavar="CSV|NUMBER", help="Jobs, one a row; see above. With --random: how many.")
]
Random = Annotated[bool, typer.Option("--random", help="A random datacenter under load, to measure with.")]
Accelerators = Annotated[
    int | None,
    typer.Option(min=1, max=MAX_ACCELERATORS, show_default="1024", help="With --random: how many."),
]
RandomSeed = Annotated[
    int | None, typer.Option("--seed", min=0, max=2**31 - 1, show_default="0", help="With --random: its seed.")
]
Most = Annotated[
    int | None,
    typer.Option(min=2, max=MAX_ACCELERATORS, help="Accelerators of its largest job; by the fabric unless given."),
]
NewFile = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write; stdout unless given.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file.")]
DeviceName = Annotated[
    str,
    typer.Option(autocompletion=completions.devices, help="A device of the catalog, or a file that describes one."),
]


def new(
    fabric: FabricKind,
    servers: Servers = None,
    tiles: Tiles = None,
    fibers: Fibers = None,
    jobs: Jobs = None,
    device: DeviceName = "h100-sxm",
    is_random: Random = False,
    accelerators: Accelerators = None,
    most: Most = None,
    seed: RandomSeed = None,
    output: NewFile = None,
    force: Force = False,
) -> int:
    """Write a commented instance that can be solved as it is.

    The CSV file has a header with the columns name, model, kind (training, inference, dlrm_training or
    dlrm_inference) and accelerators (8, 4-16 or 4;8), and any of tenant, weight, required (yes or no), precision,
    global_batch, sequence, concurrency, input_tokens, output_tokens and batch.

    With --random it is JSON: racks of that fabric up to --accelerators (lightpath racks are joined where --most exceeds
    one), and jobs of the sizes of a public trace that prefer 1.1 to 1.4 times as many; one seed writes the same bytes.
    """
    from planner.cli.random_instance import random_text, require_meaningful

    given = {"servers": servers, "tiles": tiles, "fibers": fibers}
    require_meaningful(given | {"accelerators": accelerators, "seed": seed, "most": most}, is_random)
    require_new(output, "--output", force=force)
    if is_random:
        text = random_text(fabric, accelerators=accelerators, jobs=jobs, seed=seed, most=most, device=device)
    else:
        sizes = SIZES | {name: number for name, number in given.items() if number is not None}
        name = f"{fabric}-{sizes['servers']}x{sizes['tiles']}" if output is None else output.stem
        text = _commented(name, fabric, sizes, device, None if jobs is None else Path(jobs))
    if output is None:
        sys.stdout.write(text)
    else:
        write_text(output, text)
        print(f"wrote {output}; next: planner solve {shlex.quote(str(output))}", file=sys.stderr)
    return 0


def _commented(name: str, fabric: str, sizes: Mapping[str, int], device: str, jobs: Path | None) -> str:
    """YAML of a rack with example jobs, or those of a table."""
    from planner.cli.new_instance import instance_text, left_out, read_jobs
    from planner.cli.workload_inputs import device_fields

    listed = None if jobs is None else read_jobs(jobs, max_devices=sizes["servers"] * sizes["tiles"])
    text = instance_text(name or "new", fabric=fabric, **sizes, device=device_fields(device), jobs=listed)
    where = str(jobs or "the new instance")
    for reason in left_out(text, where):
        print(f"warning: {where}: {reason}; plans leave it out", file=sys.stderr)
    return text
