"""A fault log: when servers of a real cluster were out, as faults of the accelerators of another one."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Literal

import numpy as np

from costmodel.fabrics import FabricBase
from planner.model.errors import InputError
from planner.tables import read_columns

DAY_S = 86400.0
REQUIRED = ("day", "server")
STREAM = 77
"""of random numbers, apart from those of demand and sampled failures"""
ServerMap = Literal["number", "wrap", "draw"]


@dataclass(frozen=True)
class LoggedFault:
    """One server of the log is out for a while."""

    server: int
    fault_class: str
    """such as GPU; empty where the log has no such column"""
    start_s: float
    end_s: float


@dataclass(frozen=True)
class FaultLog:
    """Faults by start, over `length_s`."""

    name: str
    faults: tuple[LoggedFault, ...]
    length_s: float
    """time of the last row; what has not ended by then ends there"""

    def require_classes(self, classes: Iterable[str]) -> None:
        """InputError for a class that no fault of the log has."""
        known = sorted({fault.fault_class for fault in self.faults})
        for name in classes:
            if name not in known:
                raise InputError(self.name, f"class '{name}'", f"is that of no fault; classes are: {', '.join(known)}")


@dataclass(frozen=True)
class FaultMap:
    """Which accelerators of a cluster a server of a log stands for."""

    servers: ServerMap = "number"
    """number: server k of the log is host k of the cluster, further ones are left out; wrap: it is host k modulo the
    hosts, none are left out; draw: each host is a server of `population` at random by the seed"""
    host: int | None = None
    """accelerators of a host, neighbours in one server of the cluster; None: the whole server"""
    single: tuple[str, ...] = ()
    """classes of faults that take one accelerator of the host, at random by the seed; others take all of it"""
    population: int = 400
    """servers of the logged cluster, those that never failed too"""

    def require(self, fabric: FabricBase, name: str) -> None:
        """InputError where hosts do not divide the servers of a cluster."""
        if self.host is not None and fabric.devices_per_server % self.host:
            problem = f"does not divide the {fabric.devices_per_server} accelerators of a server of '{name}'"
            raise InputError("--fault-rules", f"host={self.host}", f"{problem}; give a divisor of it")


@dataclass(frozen=True)
class LinkedFault:
    """Accelerators, as `whatif.failures` names them, that fail and work again together."""

    parts: tuple[str, ...]
    fail_s: float
    repair_s: float


def read_fault_log(path: Path) -> FaultLog:
    """Rows of a CSV or Parquet file with the columns day, server, event (start, end) and, if there, class.

    An end closes the first open fault of the same server and class, else the first of the server; at one time starts
    come before ends. A fault that ends as it starts takes nothing. InputError names file and line of a row that is
    none, or of an end without a start.
    """
    remedy = "name a .csv file with the columns day, server, event and perhaps class"
    columns, line = read_columns(path, REQUIRED, optional_names=("event", "class"), remedy=remedy)
    if "event" not in columns:
        raise InputError(str(path), "column 'event'", "is missing; give start or end in every row")
    kinds = columns.get("class", np.full(len(line), ""))
    open_faults: dict[int, list[tuple[str, float]]] = defaultdict(list)
    faults: list[LoggedFault] = []
    for i in np.lexsort((columns["event"] != "start", columns["day"])).tolist():
        server, event, kind = float(columns["server"][i]), str(columns["event"][i]), str(kinds[i])
        time_s = float(columns["day"][i]) * DAY_S
        _require_row(path, int(line[i]), time_s, server, event)
        waiting = open_faults[int(server)]
        if event == "start":
            waiting.append((kind, time_s))
        elif not waiting:
            problem = f"server {server:g} works again that was not out; give its start, or drop the row"
            raise InputError(str(path), f"line {line[i]}", problem)
        else:
            place = next((k for k, (other, _) in enumerate(waiting) if other == kind), 0)
            faults.append(LoggedFault(int(server), *waiting.pop(place), time_s))
    length_s = float(columns["day"].max()) * DAY_S
    if length_s <= 0:
        raise InputError(str(path), "column 'day'", "is 0 in all rows, so the log has no length; give later rows")
    faults += [LoggedFault(server, *fault, length_s) for server, left in open_faults.items() for fault in left]
    kept = (fault for fault in faults if fault.end_s > fault.start_s)
    return FaultLog(str(path), tuple(sorted(kept, key=lambda fault: (fault.start_s, fault.server))), length_s)


def _require_row(path: Path, line: int, time_s: float, server: float, event: str) -> None:
    if time_s < 0:
        raise InputError(str(path), f"line {line}, column 'day'", "is below 0; give days from the start of the log")
    if server < 0 or server % 1:
        raise InputError(str(path), f"line {line}, column 'server'", f"{server:g} is no number of a server")
    if event not in ("start", "end"):
        raise InputError(str(path), f"line {line}, column 'event'", f"'{event}' is neither start nor end")


def faults_on(
    log: FaultLog, fabric: FabricBase, of: FaultMap, horizon_s: float, seed: int, *, drains: bool = False
) -> tuple[LinkedFault, ...]:
    """Faults that start before the horizon; a log that is shorter starts again from its beginning.

    `drains`: a fault takes whole servers of the cluster. The same seed gives the same faults, and a larger cluster
    those of a smaller one and more.
    """
    size, host = fabric.devices_per_server, of.host or fabric.devices_per_server
    hosts = _hosts(of, fabric.num_devices // host, seed)
    chosen = np.random.default_rng([seed, STREAM, 1])
    found = []
    for repetition in range(ceil(horizon_s / log.length_s)):
        for fault in log.faults:
            start_s = fault.start_s + repetition * log.length_s
            slot = int(chosen.integers(host))
            for number in hosts.get(fault.server % len(hosts) if of.servers == "wrap" else fault.server, ()):
                server, first = divmod(number * host, size)
                slots = [first + slot] if fault.fault_class in of.single else range(first, first + host)
                parts = tuple(fabric.device_name(server, each) for each in (range(size) if drains else slots))
                if start_s < horizon_s:
                    found.append(LinkedFault(parts, start_s, fault.end_s + repetition * log.length_s))
    return tuple(found)


def _hosts(of: FaultMap, num_hosts: int, seed: int) -> dict[int, list[int]]:
    """Hosts of the cluster that each server of the log stands for."""
    if of.servers != "draw":
        return {number: [number] for number in range(num_hosts)}
    order = np.random.default_rng([seed, STREAM]).permutation(of.population).tolist()
    hosts: dict[int, list[int]] = defaultdict(list)
    for number in range(num_hosts):
        hosts[order[number % of.population]].append(number)
    return dict(hosts)
