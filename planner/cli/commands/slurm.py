"""planner slurm: the planner inside a Slurm."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from planner.cli.exits import EXIT_CODES
from planner.cli.inputs import AsJson
from planner.cli.json_log import log_line
from planner.cli.output import print_json
from planner.model.errors import InputError

ConfigPath = Annotated[
    Path,
    typer.Option(
        "--config",
        metavar="FILE",
        help="slurm.yaml, whose fields `planner schema slurm` lists: nodes, folders, driver, workloads.",
    ),
]

PartName = Annotated[str, typer.Argument(metavar="PART", help="As `planner repair` takes it, such as s0>s1#2.")]

slurm = typer.Typer(
    help="Place GPU jobs of a Slurm cluster with their circuits. `planner schema slurm` lists the fields of its file.",
    no_args_is_help=True,
)


@slurm.command(epilog=EXIT_CODES)
def install(
    config: ConfigPath,
    slurm_conf: Annotated[
        Path, typer.Option("--slurm-conf", metavar="FILE", help="The file that slurmctld reads.")
    ] = Path("/etc/slurm/slurm.conf"),
    remove: Annotated[bool, typer.Option("--remove", help="Take out what an earlier run put in.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")] = False,
) -> int:
    """Write the hooks, job_submit.lua and a line in slurm.conf that includes the rest. A second run changes nothing."""
    from planner.integrations.slurm.config import load_site
    from planner.integrations.slurm.install import Installation

    installation = Installation(load_site(config), slurm_conf.absolute())
    done = installation.remove(is_dry=dry_run) if remove else installation.install(is_dry=dry_run)
    print("\n".join(f"would {line}" if dry_run else line for line in done) or "nothing to do")
    for note in installation.notes() if done and not remove else []:
        print(f"note: {note}")
    if done and not dry_run:
        print("now restart slurmctld, then `scontrol reconfigure`; nodes need the same slurm.conf and photonplan.conf")
    return 0


@slurm.command(epilog=EXIT_CODES)
def run(
    config: ConfigPath,
    once: Annotated[bool, typer.Option("--once", help="Look once, act, and end.")] = False,
) -> int:
    """Place held jobs, hand them over to Slurm with their circuits, and follow it, until SIGTERM.

    Runs in the foreground, as SlurmUser or root, and logs a line of JSON for each act. Killed at any point, it goes on
    from there.
    """
    from planner.integrations.slurm.config import load_site
    from planner.integrations.slurm.daemon import run as run_daemon

    run_daemon(load_site(config), log_line, once=once)
    return 0


@slurm.command(epilog=EXIT_CODES)
def status(config: ConfigPath, as_json: AsJson = False) -> int:
    """Who runs where over which circuits, who waits and why, and whether Slurm, journal and switches agree."""
    from planner.cli.tables.slurm_status import show
    from planner.integrations.slurm.config import load_site
    from planner.integrations.slurm.status import read_status

    site = load_site(config)
    with _installed(site.config.state):
        found = read_status(site)
    print_json(found.body()) if as_json else show(found)
    return 0


@slurm.command(epilog=EXIT_CODES)
def fail(config: ConfigPath, part: PartName) -> int:
    """Tell the daemon that a part does not work: jobs on it move. Nodes are drained in Slurm instead."""
    return _order(config, "fail", part)


@slurm.command(epilog=EXIT_CODES)
def repair(config: ConfigPath, part: PartName) -> int:
    """Tell the daemon that a part works again, such as one through which circuits could not be made."""
    return _order(config, "repair", part)


def _order(config: Path, call: Literal["fail", "repair"], part: str) -> int:
    from planner.integrations.slurm.allocations import AllocationStore, Order
    from planner.integrations.slurm.config import load_site
    from planner.integrations.slurm.lock import is_alone
    from planner.whatif.failures import damaged_cluster, parse_failure

    site = load_site(config)
    failure = parse_failure(site.cluster, part)
    if call == "fail":
        damaged_cluster(site.cluster, [failure])
    with _installed(site.config.state):
        AllocationStore(site.config.state, site.config.bindings).order(Order(call, part))
        with is_alone(site.config.state) as is_idle:
            print(f"{call} {part}: {'kept until the daemon runs' if is_idle else 'the daemon is told'}")
    return 0


@contextmanager
def _installed(state: Path) -> Iterator[None]:
    """InputError where files of the planner are not there, or are not to be read."""
    try:
        yield
    except OSError as error:
        problem = f"{error.strerror}; run `planner slurm install` first, then this as SlurmUser or root"
        raise InputError(str(error.filename or state), "state", problem) from None
