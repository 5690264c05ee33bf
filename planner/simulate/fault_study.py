"""Faults of a study: a log, how its servers lie on a cluster, the answers that are compared, and their spares."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import Field

from costmodel.spec import Seconds, Spec
from planner.model import files
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.simulate.recovery import RESPONSES, Response
from planner.whatif.fault_log import FaultLog, FaultMap, LinkedFault, ServerMap, faults_on


class FaultRules(Spec):
    """How servers of a log lie on a cluster, and what is kept for faults."""

    servers: ServerMap = "number"
    """as `FaultMap` has it"""
    population: int = Field(400, ge=1, le=10**6)
    """servers of the logged cluster, those that never failed too"""
    host: int | None = Field(None, ge=1)
    """accelerators of a server of the log; None: a whole server of the cluster"""
    single: tuple[str, ...] = ()
    """classes of faults that take one accelerator of the host"""
    spares: int = Field(0, ge=0)
    """whole servers of the cluster kept free, under responses that use them"""
    checkpoint_s: Seconds = Field(0.0, ge=0)
    """time between checkpoints of a job; 0: a fault loses nothing that was done"""

    @property
    def of(self) -> FaultMap:
        """Which accelerators a server of the log stands for."""
        return FaultMap(self.servers, self.host, self.single, self.population)


@dataclass(frozen=True)
class FaultStudy:
    """What all replays with answers to faults share."""

    log: FaultLog | None
    """None: sampled failures alone"""
    rules: FaultRules
    responses: tuple[Response, ...]

    def on(self, cluster: Cluster, response: Response, span_s: float, seed: int) -> tuple[LinkedFault, ...]:
        """Faults of a cluster; a response of whole servers drains them."""
        if self.log is None:
            return ()
        return faults_on(self.log, cluster.fabric, self.rules.of, span_s, seed, drains=response == "spare_server")

    def require(self, name: str, cluster: Cluster) -> None:
        """InputError where a cluster has no such hosts, or no server left beside the spares."""
        self.rules.of.require(cluster.fabric, name)
        servers, spares = cluster.fabric.num_servers, self.rules.spares
        if spares >= servers:
            problem = f"leaves nothing of the {servers} servers of '{name}'; give at most {servers - 1}"
            raise InputError("--fault-rules", f"spares={spares}", problem)

    def known(self) -> dict[str, Any]:
        """All that the figures of one response depend on, as plain data."""
        log = None if self.log is None else asdict(self.log) | {"name": ""}
        return {"log": log, "rules": self.rules.model_dump(mode="json")}


def parse_rules(text: str) -> FaultRules:
    """Rules of a text such as servers=draw,host=8,single=GPU+NIC,checkpoint=1h; InputError for what is none."""
    given: dict[str, Any] = {}
    for part in (part.strip() for part in text.split(",") if part.strip()):
        key, sign, value = part.partition("=")
        if not sign:
            raise InputError("--fault-rules", f"'{part}'", "is no KEY=VALUE; give some such as servers=draw,spares=2")
        if key.strip() in given:
            raise InputError("--fault-rules", key.strip(), "is given twice; give it once")
        given[key.strip()] = value.strip()
    if "single" in given:
        given["single"] = [name.strip() for name in given["single"].split("+")]
    for key in ("host", "population", "spares"):
        if str(given.get(key, "")).isdecimal():
            given[key] = int(given[key])
    return files.validate(FaultRules, given, "--fault-rules")


def responses_of(text: str) -> tuple[Response, ...]:
    """Responses by commas, each once, the first of them the baseline; InputError for one that is unknown."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    known: dict[str, Response] = {response: response for response in RESPONSES}
    for name in names or [""]:
        if name not in known:
            raise InputError("--on-fault", f"'{name}'", f"is no response; responses are: {', '.join(RESPONSES)}")
    return tuple(known[name] for name in names)


def split_policy(name: str) -> tuple[str, Response]:
    """Policy and response of a name such as best_fit:repair; without one, jobs are placed again at once."""
    policy, _, last = name.rpartition(":")
    response = next((each for each in RESPONSES if each == last and policy), None)
    return (name, "place_again") if response is None else (policy, response)


def with_responses(policies: Sequence[str], faults: FaultStudy | None) -> list[str]:
    """Every policy with every response, where faults are answered."""
    responses = () if faults is None else faults.responses
    return [f"{policy}:{response}" for policy in policies for response in responses] or [*policies]
