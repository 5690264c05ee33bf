"""planner serve: the planner as an HTTP service."""

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from planner.cli.driver_names import command_named, driver_named
from planner.cli.inputs import require_writable
from planner.cli.outputs import holds_database
from planner.model.errors import InputError
from planner.service.options import Options

if TYPE_CHECKING:
    from planner.controller import Controller
    from planner.controller.switch_reconciler import SwitchReconciler
    from planner.integrations.switch_drivers import Driver
    from planner.model.cluster import Cluster
    from planner.service.lease_keeper import LeaseKeeper
    from planner.service.service import Service

READ_BACK_S = 60.0
"""between two readings of the switches' own tables"""
ClusterPath = Annotated[
    Path | None,
    typer.Argument(
        metavar="CLUSTER", help="A cluster, or an instance on one; may be left out where the journal has one already."
    ),
]
JournalPath = Annotated[
    Path, typer.Option("--journal", metavar="FILE", help="All events and decisions; a restart resumes from it.")
]
TokenPath = Annotated[
    Path | None, typer.Option("--token-file", metavar="FILE", help="The token that clients give; for its owner alone.")
]
NewToken = Annotated[
    Path | None, typer.Option("--new-token", metavar="FILE", help="Write a new token to a new file, and use it.")
]
Tenants = Annotated[
    Path | None, typer.Option("--tenants", metavar="FILE", help="Tokens of tenants, as `planner tokens` makes them.")
]
Host = Annotated[str, typer.Option(metavar="HOST", help="Address to listen on; there is no TLS, so beware.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: a free one, which the log names.")]
SettingsPath = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        metavar="FILE",
        help="Quotas and rules, as `planner schema settings` lists them; else those of the journal.",
    ),
]
DriverName = Annotated[
    str | None,
    typer.Option(
        "--driver", metavar="KIND:WHAT", help="Sets circuits: file:DIR, hook:COMMAND, ocs:FILE or slices:FILE."
    ),
]
ReadBack = Annotated[
    float | None,
    typer.Option(
        "--read-back",
        min=0.0,
        max=1e6,
        metavar="S",
        help="Seconds between two comparisons of the switches with what jobs have on; 0: never. 60 with ocs: and "
        "slices:, 0 with others unless given: a command of hook: is asked for the action report.",
    ),
]
KubernetesPath = Annotated[
    Path | None,
    typer.Option(
        "--kubernetes",
        metavar="FILE",
        help="The Kubernetes cluster to schedule for, as `planner schema kubernetes` lists it.",
    ),
]
Rate = Annotated[float, typer.Option(min=0.0, max=1e9, help="Requests per second of one address; 0: any number.")]
Queue = Annotated[int, typer.Option(min=1, max=100_000, help="Calls that may wait; more are answered 429.")]
QueueTime = Annotated[
    float,
    typer.Option("--queue-time", min=0.001, max=3600.0, metavar="S", help="Seconds that calls may wait, else 429."),
]
MaxBody = Annotated[int, typer.Option("--max-body", min=1024, max=2**30, metavar="BYTES", help="Largest request.")]
Connections = Annotated[
    int, typer.Option(min=1, max=100_000, help="Connections of one address; of more, /healthz alone is answered.")
]
Standby = Annotated[
    bool,
    typer.Option(
        "--standby",
        help="Where another process writes the journal, answer questions and take its place when it is gone.",
    ),
]
FenceCommand = Annotated[
    str | None,
    typer.Option(
        "--fence",
        metavar="COMMAND",
        help="Ends a leader of another machine that renews its lease no more: its JSON on standard input, exit 0 once "
        "it can act no more. One of this machine is killed.",
    ),
]
SetClock = Annotated[
    bool, typer.Option("--set-clock", help="The journal's time is wrong: its times move to this machine's clock.")
]
OpenMetrics = Annotated[bool, typer.Option("--open-metrics", help="/metrics needs no token.")]
LogLevel = Annotated[Literal["debug", "info", "warning", "error"], typer.Option(help="Level of JSON lines on stderr.")]


def serve(
    cluster: ClusterPath = None,
    journal: JournalPath = Path("planner.db"),
    token_file: TokenPath = None,
    new_token: NewToken = None,
    tenants: Tenants = None,
    host: Host = "127.0.0.1",
    port: Port = 8642,
    settings: SettingsPath = None,
    driver: DriverName = None,
    read_back: ReadBack = None,
    kubernetes: KubernetesPath = None,
    rate: Rate = Options.rate_per_s,
    queue: Queue = Options.most_queued,
    queue_time: QueueTime = Options.most_wait_s,
    max_body: MaxBody = Options.most_body_bytes,
    connections: Connections = Options.most_of_address,
    open_metrics: OpenMetrics = False,
    standby: Standby = False,
    fence: FenceCommand = None,
    set_clock: SetClock = False,
    log_level: LogLevel = "info",
) -> int:
    """Serve the planner over HTTP: events in, decisions out, all of them on disk before they are answered.

    At SIGTERM or SIGINT what was taken is answered and the journal closed. After a crash it goes on from the
    journal: give --token-file then, with the token that --new-token has written.
    """
    _require_installed()
    os.umask(0o077)
    with ExitStack() as undo:
        options = Options(
            _token(token_file, new_token, undo), rate, queue, queue_time, max_body,
            most_connections=max(connections, Options.most_connections), most_of_address=connections,
            tenants=tenants, has_open_metrics=open_metrics,
        )  # fmt: skip
        return _run(
            options, (host, port), (cluster, journal, settings), (driver, read_back, kubernetes), log_level,
            set_clock=set_clock, standby=(standby, fence), undo=undo,
        )  # fmt: skip


def _require_installed() -> None:
    """InputError where what the service needs is not installed."""
    try:
        import planner.service.app
        import planner.service.server  # noqa: F401
    except ModuleNotFoundError as error:
        remedy = "run `pip install 'photonplan[serve]'`"
        raise InputError("planner serve", "", f"{error.name} is not installed; {remedy}") from None


def _run(
    options: Options,
    address: tuple[str, int],
    state: tuple[Path | None, Path, Path | None],
    control_loops: tuple[str | None, float | None, Path | None],
    log_level: str,
    *,
    set_clock: bool,
    standby: tuple[bool, str | None],
    undo: ExitStack,
) -> int:
    """`state`: cluster, journal and settings; `control_loops`: driver of switches, how often they are read back, and
    Kubernetes; `standby`: whether it may stand by, and the command that ends leaders; `undo`: what is undone where it
    cannot begin."""
    from planner.service import logs, server
    from planner.service.app import create_app
    from planner.service.lease_keeper import LeaseKeeper

    fence = [] if standby[1] is None else command_named("--fence", standby[1])
    led = list["Controller"]()
    switches = driver_named(control_loops[0], state[1], lambda: led[0].require_leading())
    logs.set_up(log_level, options.token.decode())
    with server.bind(*address) as listening:
        controller = _controller(*state, switches, may_stand_by=standby[0])
        led.append(controller)
        try:
            if state[0] is None:
                _require_served(switches, controller.cluster, state[1])
            if set_clock:
                controller.set_clock()
            carrier = None if switches is None else _carrier(controller, switches, *control_loops[:2])
            host, port = listening.getsockname()[:2]
            keeper = LeaseKeeper(controller, f"http://{host}:{port}", fence)
            service = _service(controller, options, (carrier, keeper), control_loops[2])
            app = create_app(service, options)
            undo.pop_all()
            return server.run(app, service, options, listening)
        finally:
            controller.close()


def _token(token_file: Path | None, new_token: Path | None, undo: ExitStack) -> bytes:
    """The token of the one file that is named; a new one is removed again unless the service begins."""
    from planner.service.tokens import read_token, write_token

    path = token_file or new_token
    if path is None or (token_file and new_token):
        problem = "give a file with the token of this service, or --new-token FILE to have one written"
        raise InputError("--token-file", "", problem)
    if new_token:
        write_token(path)
        undo.callback(path.unlink, missing_ok=True)
    return read_token(path)


def _controller(
    cluster: Path | None, journal: Path, settings: Path | None, switches: "Driver | None", *, may_stand_by: bool = False
) -> "Controller":
    """A controller that goes on where its journal ends, or stands by where another writes it."""
    from planner.controller import Controller, Settings
    from planner.controller.journal_file import is_held
    from planner.model import files
    from planner.model.cluster import load_cluster

    require_writable(journal, "--journal")
    if cluster is None and not journal.exists():
        raise InputError(str(journal), "--journal", "does not exist; name it, or say which cluster a new one is for")
    if journal.is_file() and not holds_database(journal):
        raise InputError(str(journal), "--journal", "is no journal, or a damaged one; take another, or a copy of it")
    given = load_cluster(cluster) if cluster is not None else None
    if cluster is not None and given is not None:
        _require_served(switches, given, cluster)
    rules = files.load(Settings, settings) if settings is not None else None
    is_standby = may_stand_by and journal.exists() and is_held(str(journal))
    return Controller(given, journal, rules, is_standby=is_standby, is_leased=True)


def _require_served(switches: "Driver | None", cluster: "Cluster", source: Path) -> None:
    """InputError where the switches are those of another cluster, before anything is kept of it."""
    from planner.integrations.switch_drivers.recorded import RecordedDriver

    if isinstance(switches, RecordedDriver):
        switches.require_served(cluster.fabric, str(source))


def _carrier(
    controller: "Controller", driver: "Driver", name: str | None, read_back_s: float | None
) -> "SwitchReconciler":
    """What carries decisions to the switches; those that answer for themselves are read back unless told otherwise."""
    from planner.controller.switch_reconciler import SwitchReconciler

    is_read = (name or "").startswith(("ocs:", "slices:"))
    return SwitchReconciler(
        controller, driver, read_back_s=(READ_BACK_S if is_read else 0.0) if read_back_s is None else read_back_s
    )


def _service(
    controller: "Controller",
    options: Options,
    held_by: "tuple[SwitchReconciler | None, LeaseKeeper | None]",
    kubernetes: Path | None,
) -> "Service":
    """A service with its control loops; `held_by`: what sets circuits, and what keeps the lease."""
    from planner.service.idle_replan import IdleReplan
    from planner.service.service import Service
    from planner.service.ticker import ControlLoop

    carrier, keeper = held_by
    control_loops: list[ControlLoop] = [IdleReplan(controller)]
    if kubernetes is not None:
        try:
            from planner.integrations.kubernetes.loop import load_loop
        except ModuleNotFoundError as error:
            remedy = "run `pip install 'photonplan[kubernetes]'`"
            raise InputError("--kubernetes", "", f"{error.name} is not installed; {remedy}") from None

        applied = None if carrier is None else carrier.on
        control_loops.append(load_loop(kubernetes, controller.cluster, controller, applied))
    return Service(
        controller, most_queued=options.most_queued, most_wait_s=options.most_wait_s, control_loops=control_loops,
        carrier=carrier, keeper=keeper,
    )  # fmt: skip
