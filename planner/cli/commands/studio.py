"""planner studio: an instance edited, solved and repaired in a browser."""

from typing import Annotated

import typer

from planner.cli.inputs import InstancePath, Threads, TimeLimit
from planner.cli.output import console
from planner.model.errors import InputError

Port = Annotated[int, typer.Option(min=0, max=65535, help="On this machine alone; 0: a free one.")]
Opens = Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser, too.")]


def studio(
    instance: InstancePath,
    port: Port = 8643,
    opens: Opens = False,
    time_limit: TimeLimit = 60.0,
    threads: Threads = None,
) -> int:
    """Edit an instance in a browser: solve it, see the plan, fail a part, repair, compare variants, save the file.

    The page is served on this machine alone, to whoever has the address that is printed, until Ctrl-C. Every plan it
    shows passed the check.
    """
    try:
        from planner.studio.server import run
    except ModuleNotFoundError as error:
        remedy = "run `pip install 'photonplan[serve]'`"
        raise InputError("planner studio", "", f"{error.name} is not installed; {remedy}") from None
    from planner.cli.versions import versions
    from planner.studio.session import Session

    session = Session(instance, versions(), time_limit_s=time_limit, workers=threads)
    run(
        session,
        port,
        lambda address: console().print(f"studio of {instance} at {address}", soft_wrap=True),
        opens=opens,
    )
    return 0
