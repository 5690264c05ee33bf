"""switches.yaml: the cluster, its wiring, and where each optical switch is asked."""

import re
import ssl
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from costmodel.fabrics import FabricBase
from costmodel.spec import Decibels, Duration, Spec
from planner.fabrics import plugin_of
from planner.integrations.wiring.cables import Cable, CableTable
from planner.integrations.wiring.faults import faults_of
from planner.model import files
from planner.model.cluster import load_cluster
from planner.model.errors import InputError
from planner.model.validation_messages import SECRET

Protocol = Literal["restconf", "gnmi", "openconfig", "tl1", "scpi"]
SCHEMES: dict[Protocol, tuple[str, str]] = {
    "restconf": ("http", "https"), "gnmi": ("http", "https"), "openconfig": ("http", "https"),
    "tl1": ("tcp", "tls"), "scpi": ("tcp", "tls"),
}  # fmt: skip
"""of addresses, in the clear and over TLS"""
PORT_NAMES: dict[Protocol, tuple[str, str]] = {
    "openconfig": ("[^/]+/[^/]+", "SLOT/PORT, as 1/12"),
    "tl1": ("[^,:;]+[AB]", "the port of the switch with A for its input, B for its output, as 1.2.4A"),
    "scpi": ("[1-9][0-9]*", "a number"),
}
"""of protocols that do not take any name: pattern, and what to write"""


class SwitchAccess(Spec):
    """How switches are asked; files are relative to switches.yaml, and credentials stand in files alone."""

    url: str
    """such as https://ocs-{}.example: {} is the name of the switch with - for every other sign, q2-1 for q2#1. For tl1
    and scpi tcp://HOST:PORT, or tls://HOST:PORT. The root /restconf may stand behind it"""
    protocol: Protocol = "restconf"
    """restconf, gnmi: of SONiC; openconfig: the model optical-switch over gNMI; tl1: Calient's; scpi: Polatis'"""
    target: str | None = None
    """of gNMI, where several switches answer at one address; {} as in url"""
    username: str | None = None
    """of the account at the switch"""
    password_file: Path | None = None
    """one line; read again for each request"""
    token_file: Path | None = None
    """one line with a bearer token, in place of name and password"""
    ca_file: Path | None = None
    """certificates that switches are trusted by; None: those of the system"""
    certificate_file: Path | None = None
    """of the planner itself"""
    key_file: Path | None = None
    """of that certificate, where it is not in the same file"""
    verify: bool = True
    """false: whoever answers is believed to be the switch"""
    timeout_s: Annotated[Duration, Field(gt=0)] = 5.0
    """of one request"""
    tries: int = Field(default=3, ge=1, le=20)
    """of what a switch does not answer, and of what it answers and does not do"""
    backoff_s: Annotated[Duration, Field(gt=0)] = 0.1
    """before the second try; doubled before each further one, and half to one and a half times that by chance"""

    @field_validator("url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        if "@" in url:
            said = "credentials stand in files alone; leave them out here, give username and password_file"
            raise PydanticCustomError(SECRET, said)
        if not re.fullmatch(r"(https?|tcp|tls)://[^\s/?#]+(/[^\s?#]*)?", url):
            raise ValueError(f"'{url}' is no address; write it like https://ocs-1.example:8443")
        try:
            parts = urlsplit(url.replace("{}", "x"))
            (parts.hostname or "").encode("idna")
            is_port = parts.port != 0
        except ValueError:
            is_port = False
        if not is_port:
            raise ValueError(
                f"'{url}' has a host or a port that no address has; write it like https://ocs-1.example:8443"
            )
        return re.sub(r"(?<=[^/])/restconf$", "", url.rstrip("/"))

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if (self.username is None) != (self.password_file is None):
            raise ValueError("username: goes with password_file; give both, or a token_file")
        if self.token_file is not None and self.username is not None:
            raise ValueError("token_file: stands in place of username and password_file; give one of the two")
        if self.key_file is not None and self.certificate_file is None:
            raise ValueError("key_file: is of no certificate; give certificate_file too")
        self._require_protocol()
        return self

    def _require_protocol(self) -> None:
        """ValueError where address or credentials are none of the protocol."""
        scheme, _, rest = self.url.partition("://")
        known = SCHEMES[self.protocol]
        if scheme not in known or (self.protocol != "restconf" and not re.fullmatch(r"[^/]+:[0-9]+", rest)):
            raise ValueError(f"url: '{self.url}' is no address for {self.protocol}; write {known[1]}://HOST:PORT")
        if self.protocol == "tl1" and self.username is None:
            raise ValueError("username: is missing; TL1 begins with a login, give it with password_file")
        if self.protocol == "scpi" and (self.username or self.token_file):
            raise ValueError("username: SCPI has no login; leave out username, password_file and token_file")
        if self.target is not None and self.protocol not in ("gnmi", "openconfig"):
            raise ValueError(f"target: is of gNMI, not of {self.protocol}; leave it out")
        if not self.verify and self.protocol in ("gnmi", "openconfig"):
            raise ValueError("verify: gNMI believes no certificate that is not known; give ca_file")


class OcsConfig(Spec):
    """switches.yaml."""

    cluster: Path
    """file with the cluster, or with an instance on it; relative to this file"""
    wiring: Path
    """what `planner wiring new` writes; relative to this file"""
    switches: dict[str, SwitchAccess] = Field(min_length=1)
    """by name of a switch in plans, or by a pattern such as q2#*: a name goes before patterns, an earlier pattern
    before a later one"""
    most_loss_db: Decibels | None = None
    """of a circuit: the insertion loss that the switch measures, and both cables"""
    settle_s: Annotated[Duration, Field(gt=0)] = 2.0
    """after a change, within which all ports must report light"""


@dataclass(frozen=True)
class SwitchSite:
    """A configuration with all that it names."""

    config: OcsConfig
    path: Path
    fabric: FabricBase
    table: CableTable

    @cached_property
    def access(self) -> dict[str, SwitchAccess]:
        """By switch of the cluster; InputError for one that nothing says how to ask."""
        found = {}
        for switch in dict.fromkeys(cable.switch for cable in self.table.cables):
            patterns = self.config.switches
            name = switch if switch in patterns else next((p for p in patterns if fnmatchcase(switch, p)), None)
            if name is None:
                raise InputError(str(self.path), "switches", f"says nothing of {switch}; add it, or a pattern for it")
            found[switch] = patterns[name]
        return found

    @cached_property
    def cable_at(self) -> dict[tuple[str, str], Cable]:
        """By switch and port."""
        return {(cable.switch, cable.port): cable for cable in self.table.cables}

    def url(self, switch: str) -> str:
        return _filled(self.access[switch].url, switch)

    def endpoint(self, switch: str) -> tuple[str, bool]:
        """HOST:PORT of a switch, and whether it is asked over TLS."""
        scheme, _, rest = self.url(switch).partition("://")
        return rest, scheme in ("https", "tls")

    def target(self, switch: str) -> str:
        """Of gNMI's prefix."""
        return _filled(self.access[switch].target or "", switch)

    def certificates(self, switch: str) -> tuple[Path | None, ...]:
        """Files: of those that are believed, of the planner's own, of its key."""
        access = self.access[switch]
        files = access.ca_file, access.certificate_file, access.key_file
        return tuple(self.path.parent / file if file else None for file in files)

    def end(self, switch: str, port: str) -> str:
        """What a port leads to, for messages."""
        cable = self.cable_at.get((switch, port))
        return "nothing in the wiring" if cable is None else cable.end

    def part(self, switch: str, port: str) -> str:
        """The part of the fabric that is lost where no light passes at a port."""
        return plugin_of(self.fabric).switch_ports.part(self.fabric, switch, self.cable_at[switch, port].end)

    def secret(self, file: Path) -> str:
        """The line of a file of credentials; OSError, ValueError, whose texts say nothing of it."""
        lines = (self.path.parent / file).read_text(encoding="utf-8").strip().splitlines()
        if len(lines) > 1:
            raise ValueError("it has several lines; leave the one that is the secret")
        return "".join(lines)

    def tls(self, switch: str) -> ssl.SSLContext:
        """InputError where its files cannot be used."""
        try:
            return _tls(*self.certificates(switch), verify=self.access[switch].verify)
        except (OSError, ValueError) as error:
            raise InputError(str(self.path), "switches", f"certificates of {switch} cannot be used: {error}") from None


def _filled(text: str, switch: str) -> str:
    return text.replace("{}", re.sub(r"[^A-Za-z0-9]+", "-", switch))


@cache
def _tls(ca: Path | None, certificate: Path | None, key: Path | None, *, verify: bool) -> ssl.SSLContext:
    """One for all switches that are asked alike: reading the certificates of the system takes tens of milliseconds."""
    context = ssl.create_default_context(cafile=ca)
    if not verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if certificate is not None:
        context.load_cert_chain(certificate, key)
    return context


def load_switches(path: Path) -> SwitchSite:
    """Read switches.yaml with cluster and wiring; InputError names file and field."""
    config = files.load(OcsConfig, path)
    cluster, table = load_cluster(path.parent / config.cluster), CableTable.load(path.parent / config.wiring)
    if faults := faults_of(cluster.fabric, table):
        problem = f"{faults[0].message}; `planner wiring check` lists all that is wrong"
        raise InputError(str(path.parent / config.wiring), "", problem)
    site = SwitchSite(config, path, cluster.fabric, table)
    for switch, access in site.access.items():
        site.tls(switch)
        _require_ports(site, switch)
        for file in (access.password_file, access.token_file):
            _require_readable(site, file)
    _require_addresses(site)
    return site


def _require_addresses(site: SwitchSite) -> None:
    """InputError where one port of one switch would be two: parts of one with ports of their own may be several."""
    known: dict[tuple[str, str, str], str] = {}
    for switch, port in site.cable_at:
        other = known.setdefault((site.url(switch), site.target(switch), port), switch)
        if other != switch:
            problem = f"{other} and {switch} have one address, {site.url(switch)}; write {{}} for the name, or a target"
            raise InputError(str(site.path), "switches", problem)


def _require_ports(site: SwitchSite, switch: str) -> None:
    """InputError where the wiring names a port as the protocol of its switch cannot."""
    protocol = site.access[switch].protocol
    pattern, remedy = PORT_NAMES.get(protocol, (".+", ""))
    wrong = next((c for c in site.table.cables if c.switch == switch and not re.fullmatch(pattern, c.port)), None)
    if wrong is not None:
        problem = f"{switch}: '{wrong.port}' is no port for {protocol}; write {remedy}"
        raise InputError(str(site.path.parent / site.config.wiring), wrong.place or "port", problem)


def _require_readable(site: SwitchSite, file: Path | None) -> None:
    try:
        is_empty = file is not None and not site.secret(file)
    except (OSError, ValueError) as error:
        raise InputError(str(site.path), "switches", f"{file} cannot be read: {error}") from None
    if is_empty:
        raise InputError(str(site.path.parent / str(file)), "", "is empty; it holds one line, the secret")
