"""planner switch-emulator: optical switches on this machine."""

from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from planner.cli.inputs import AsJson, Seed
from planner.cli.output import print_json
from planner.cli.standard_output import require_output
from planner.model.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from planner.integrations.switch_emulator.application import Login
    from planner.integrations.switch_emulator.emulator import Emulator
    from planner.integrations.switch_emulator.faults import FaultRate
    from planner.integrations.switch_emulator.line_session import LineSession
    from planner.integrations.switch_emulator.server import Certificate


def _settling(text: str | float) -> float:
    """Seconds of a text such as 3ms."""
    from costmodel.quantity import TIME, Quantity

    try:
        seconds = Quantity(TIME, "3 ms", 1e-9, 3600.0).parse(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if not 0 <= seconds <= 3600:
        raise typer.BadParameter(f"{text} is not from 0 to an hour")
    return seconds


Switches = Annotated[
    str, typer.Option(metavar="N|NAMES|CSV", help="How many, their names with commas, or a table: name, ports.")
]
Ports = Annotated[int, typer.Option(min=2, max=2048, help="Simplex ports of a switch, half on side A, half on B.")]
Host = Annotated[str, typer.Option(metavar="HOST", help="An address of loopback.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Of the first switch, others follow; 0: free ones.")]
GnmiPort = Annotated[
    int | None,
    typer.Option("--gnmi-port", min=0, max=65535, help="Speak gNMI too, all on this port by target; 0: a free one."),
]
Tl1Port = Annotated[
    int | None,
    typer.Option("--tl1-port", min=0, max=65535, help="Speak TL1 too, from this port on, one each; 0: free ones."),
]
ScpiPort = Annotated[
    int | None,
    typer.Option("--scpi-port", min=0, max=65535, help="Speak SCPI too, from this port on, one each; 0: free ones."),
]
ByPath = Annotated[bool, typer.Option("--one-port", help="All on one port, as /NAME/restconf, not a port each.")]
Settling = Annotated[
    float, typer.Option("--settling", parser=_settling, metavar="TIME", help="Longest time of mirrors, as 3ms.")
]
Words = Annotated[
    Literal["oper_status", "state", "status"],
    typer.Option("--vocabulary", help="Leaf of a port's state: oper_status says connected, the others tuned."),
]
Faults = Annotated[
    list[str] | None,
    typer.Option("--fault", metavar="[CLASS:]KIND=P", help="As bulk:half=0.05; more than once for more kinds."),
]
User = Annotated[str | None, typer.Option(metavar="NAME", help="Asks for basic authentication, and a login of TL1.")]
PasswordFile = Annotated[Path | None, typer.Option("--password-file", metavar="FILE", help="With --user.")]
CertificatePath = Annotated[
    Path | None, typer.Option("--certificate", metavar="PEM", help="Serves HTTPS, TL1 and SCPI over TLS.")
]
KeyPath = Annotated[Path | None, typer.Option("--key", metavar="PEM", help="Of --certificate, unless it is in it.")]


def switch_emulator(
    switches: Switches = "1",
    ports: Ports = 136,
    host: Host = "127.0.0.1",
    port: Port = 0,
    one_port: ByPath = False,
    gnmi_port: GnmiPort = None,
    tl1_port: Tl1Port = None,
    scpi_port: ScpiPort = None,
    seed: Seed = 0,
    settling: Settling = 0.003,
    vocabulary: Words = "oper_status",
    fault: Faults = None,
    user: User = None,
    password_file: PasswordFile = None,
    certificate: CertificatePath = None,
    key: KeyPath = None,
    as_json: AsJson = False,
) -> int:
    """Emulate optical circuit switches (SONiC, OpenConfig, TL1 of Calient, SCPI of Polatis), until it is stopped.
    Prints the address of each and of the referee, who tells where light went.

    Classes of requests: read, write, bulk. Kinds of faults: hang, error, half, lie (of answers); restart, drop,
    change, foreign, untuned (of itself, when a request of that class comes).
    """
    _require_installed(gnmi_port is not None)
    from planner.integrations.switch_emulator import server
    from planner.integrations.switch_emulator.emulator import Emulator
    from planner.integrations.switch_emulator.switch_lists import read_switches

    specs, rates = read_switches(switches, ports), _rates(fault or [])
    login, pair = _login(user, password_file), _certificate(certificate, key)
    _require_plain(gnmi_port, login, pair)
    emulator = Emulator(specs, seed=seed, settling_s=settling, vocabulary=vocabulary, rates=rates)
    listening = server.listen([*emulator.switches], host, port, is_by_path=one_port, is_secure=pair is not None)
    others = {"tl1": tl1_port, "scpi": scpi_port}
    with _gnmi(emulator, host, gnmi_port) as address, _lines(emulator, host, others, login, pair) as more:
        _show(listening.addresses | address | more, as_json)
        server.server(emulator, listening, login=login, certificate=pair).run(sockets=listening.sockets)
    return 0


@contextmanager
def _gnmi(emulator: "Emulator", host: str, port: int | None) -> "Iterator[dict[str, str]]":
    """A gNMI server and its address; none without a port."""
    if port is None:
        yield {}
        return
    from planner.integrations.switch_emulator.gnmi import gnmi_server

    shown = f"[{host}]" if ":" in host else host
    server, found = gnmi_server(emulator, f"{shown}:{port}")
    try:
        yield {"gnmi": f"{shown}:{found}"}
    finally:
        server.stop(None)


@contextmanager
def _lines(
    emulator: "Emulator", host: str, ports: dict[str, int | None], login: "Login | None", pair: "Certificate | None"
) -> "Iterator[dict[str, str]]":
    """Servers of TL1 and SCPI, where they have a port; addresses as `ocs0 tl1`."""
    from planner.integrations.switch_emulator.line_server import serving_lines
    from planner.integrations.switch_emulator.scpi import ScpiSession
    from planner.integrations.switch_emulator.tl1 import Tl1ServerSession

    account = None if login is None else (login.user, login.password)
    sessions: dict[str, Callable[[str], LineSession]] = {
        "tl1": lambda name: Tl1ServerSession(emulator, name, account), "scpi": lambda name: ScpiSession(emulator, name),
    }  # fmt: skip
    addresses: dict[str, str] = {}
    with ExitStack() as stack:
        for protocol, session in sessions.items():
            port = ports[protocol]
            if port is not None:
                served = serving_lines([*emulator.switches], session, host, port, certificate=pair)
                found = stack.enter_context(served)
                addresses |= {f"{name} {protocol}": address for name, address in found.items()}
        yield addresses


def _require_plain(gnmi_port: int | None, login: "Login | None", pair: "Certificate | None") -> None:
    if gnmi_port is not None and (login or pair):
        raise InputError("--gnmi-port", "", "has neither login nor TLS; leave out --user and --certificate")


def _require_installed(has_gnmi: bool) -> None:
    try:
        import planner.integrations.switch_emulator.server

        if has_gnmi:
            import planner.integrations.switch_emulator.gnmi  # noqa: F401
    except ModuleNotFoundError as error:
        remedy = f"run `pip install 'photonplan[switches{',gnmi' if has_gnmi else ''}]'`"
        raise InputError("planner switch-emulator", "", f"{error.name} is not installed; {remedy}") from None


def _rates(given: list[str]) -> "list[FaultRate]":
    from planner.integrations.switch_emulator.faults import parse_rates

    return [rate for text in given for rate in parse_rates(text)]


def _login(user: str | None, password_file: Path | None) -> "Login | None":
    """Who may ask; None: anybody."""
    from planner.integrations.switch_emulator.application import Login
    from planner.model.files import read_text

    if (user is None) != (password_file is None):
        raise InputError("--user", "", "give --user and --password-file together")
    if user is None or password_file is None:
        return None
    return Login(user, read_text(password_file).strip())


def _certificate(certificate: Path | None, key: Path | None) -> "Certificate | None":
    from planner.integrations.switch_emulator.server import Certificate

    if certificate is None:
        if key is not None:
            raise InputError("--key", str(key), "is of a --certificate; give it too")
        return None
    pair = Certificate(certificate, key)
    pair.require_usable()
    return pair


def _show(addresses: dict[str, str], as_json: bool) -> None:
    if as_json:
        print_json(addresses)
    else:
        width = max(map(len, addresses))
        print("\n".join(f"{name:{width}}  {address}" for name, address in addresses.items()))
    require_output()
