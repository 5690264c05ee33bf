"""planner resync: do the switches still have what is on by the record?"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.exits import PLAN, VIOLATIONS
from planner.cli.inputs import AsJson
from planner.cli.output import plain, print_json
from planner.model.errors import InputError

if TYPE_CHECKING:
    from planner.integrations.switch_drivers import Resynced


def resync(
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="slurm.yaml of `planner slurm run`.")
    ] = None,
    driver: Annotated[
        str | None, typer.Option("--driver", metavar="KIND:WHAT", help="As given to `planner serve`, with --journal.")
    ] = None,
    journal: Annotated[
        Path,
        typer.Option("--journal", metavar="FILE", help="Of `planner serve`: the record lies beside it."),
    ] = Path("planner.db"),
    as_json: AsJson = False,
) -> int:
    """Read back what the switches say is on, set again what was lost, as after a power failure of a switch, and name
    cross-connects that no job holds. Safe while jobs start and end. A command of --driver hook: is asked for "report".
    """
    from planner.cli.driver_names import driver_named
    from planner.integrations.slurm.config import load_site
    from planner.integrations.slurm.hooks import driver_in
    from planner.integrations.switch_drivers import CircuitError

    if (config is None) == (driver is None):
        raise InputError("resync", "--config", "give --config FILE of Slurm, or --driver of `planner serve`")
    try:
        if config is None:
            switches = driver_named(driver, journal, has_record=True)
        else:
            switches = driver_in(load_site(config).config.state)
        assert switches is not None
        found = switches.resync()
    except CircuitError as error:
        raise InputError("resync", "driver", str(error)) from None
    except OSError as error:
        raise InputError(str(error.filename), "state", f"{error.strerror}; is it installed, and yours?") from None
    if as_json:
        print_json({"again": list(found.again), "failed": dict(found.failed), "strange": list(found.strange)})
    else:
        print("\n".join(_lines(found)) or "switches and record agree")
    return VIOLATIONS if found.failed else PLAN


def _lines(found: "Resynced") -> Iterator[str]:
    for job in found.again:
        yield f"{plain(job)}: its circuits were lost, and are on again"
    for job, said in found.failed.items():
        yield f"{plain(job)}: its circuits are lost, and could not be set: {plain(said)}"
    for light in found.strange:
        yield f"{plain(light)} is on for no job; switch it off by hand, or leave it"
