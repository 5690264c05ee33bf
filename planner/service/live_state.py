"""State of the live page: jobs by accelerator and their circuits, waiting jobs with reasons, parts that are down."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

from planner.controller import Controller
from planner.controller.switch_reconciler import Trouble
from planner.controller.view import JobState, View
from planner.fabrics import plugin_of
from planner.fabrics.wiring import MEMORY, served
from planner.model.cluster import Cluster
from planner.model.health import Health
from planner.placement.placement import Place
from planner.report.floor import fabric_facts

NO_TROUBLES: Mapping[str, Trouble] = MappingProxyType({})
Link = tuple[int, int, int]
"""light of one job from server to server: both by number, and the wavelengths that are on at once"""


class _Drawn:
    """Parts of a controller's page, remembered until an event changes them."""

    def __init__(self, cluster: Cluster) -> None:
        fabric = cluster.fabric
        servers = [fabric.server_name(server) for server in range(fabric.num_servers)]
        self.number = {name: server for server, name in enumerate(servers)}
        facts = fabric_facts(cluster) | {"device_letter": fabric.device_letter}
        self.fixed = {"fabric": facts, "server_names": servers}
        self.down_before = tuple(_names(cluster.health))
        self.body: tuple[int, dict[str, Any]] = -1, {}
        """by number of events"""
        self.running: dict[str, tuple[Place, dict[str, Any]]] = {}
        """by running job, as long as it stays where it is"""


def _names(health: Health) -> Iterator[str]:
    """Parts that the cluster's file says are down."""
    yield from health.failed_tiles
    yield from (f"{name}:port" for name in health.failed_ports)
    yield from (f"{fiber.source}>{fiber.destination}#{fiber.index}" for fiber in health.failed_fibers)
    yield from (part.name for part in (*health.failed_lasers, *health.failed_receivers))
    yield from (*health.failed_switches, *health.failed_memory_units)
    yield from (*health.failed_tray_ports, *health.failed_uplinks, *health.failed_memory_nodes)


_drawn: WeakKeyDictionary[Controller, _Drawn] = WeakKeyDictionary()


def live_state(controller: Controller, troubles: Mapping[str, Trouble] = NO_TROUBLES) -> dict[str, Any]:
    """The floor plan and the queue of a controller as JSON, made anew only after events; and by job why circuits are
    not set.

    Accelerators are counted server by server, slot by slot; `owner` has for each the place of its job in `jobs`, or -1.
    Times are in seconds on the controller's clock, `at_s` is the machine's.
    """
    drawn = _drawn.get(controller)
    if drawn is None:
        drawn = _drawn.setdefault(controller, _Drawn(controller.cluster))
    if drawn.body[0] != controller.seq:
        view = controller.view()
        drawn.body = view.seq, drawn.fixed | _body(view, drawn)
    reasons = [{"job": job, **asdict(trouble)} for job, trouble in troubles.items()]
    return drawn.body[1] | {"at_s": time.time(), "troubles": reasons}


def of_tenant(body: dict[str, Any], tenant: str | None) -> dict[str, Any]:
    """The floor as a tenant may see it: where jobs of others lie, and no more of them."""
    if tenant is None:
        return body
    jobs = [job if job["tenant"] == tenant else job | _unnamed(job) for job in body["jobs"]]
    waiting = [job for job in body["waiting"] if job["tenant"] == tenant]
    own = {job["name"] for job in (*jobs, *waiting) if job["tenant"] == tenant}
    reserved = body["reserved"] if body["reserved"]["job"] in own else {"job": None, "servers": [], "at_s": None}
    troubles = [each for each in body["troubles"] if each["job"] in own]
    return body | {
        "jobs": jobs, "waiting": waiting, "num_waiting": len(waiting), "reserved": reserved, "troubles": troubles,
    }  # fmt: skip


def _unnamed(job: dict[str, Any]) -> dict[str, Any]:
    """A job of another tenant, without its name and workload."""
    return {
        "name": f"another {job['number']}", "tenant": "another", "priority": 0, "workload": "", "model": "",
        "arrived_s": job["started_s"], "limit_s": None, "configuration": "", "links": [], "growth": None,
    }  # fmt: skip


def _body(view: View, drawn: _Drawn) -> dict[str, Any]:
    cluster = view.cluster
    fabric, per_server = cluster.fabric, cluster.fabric.devices_per_server
    owner = [-1] * fabric.num_devices
    for number, job in enumerate(view.running):
        assert job.place is not None
        for server, slot in job.place.devices:
            owner[server * per_server + slot] = number
    running = drawn.running = {job.request.name: _running(job, drawn) for job in view.running}
    return {
        "seq": view.seq,
        "owner": owner,
        "failed": sorted(server * per_server + slot for server, slot in cluster.failed_devices),
        "dark": sorted(server * per_server + slot for server, slot in cluster.dark_devices),
        "drained": [drawn.number[name] for name in view.drained],
        "down": list(dict.fromkeys((*drawn.down_before, *view.failed))),
        "jobs": [running[job.request.name][1] | {"growth": _growth(job)} for job in view.running],
        "waiting": [_waiting(job) for job in view.waiting],
        "num_waiting": view.num_waiting,
        "reserved": {
            "job": view.reserved.job, "servers": list(view.reserved.servers), "at_s": view.reserved.at_s,
        },
        "num_free": view.num_free,
        "pool": _pool(view),
        "counts": asdict(view.counts),
    }  # fmt: skip


def _pool(view: View) -> dict[str, list[int]] | None:
    """Memory units by server, those that work and those that jobs hold; null where memory is local."""
    cluster = view.cluster
    units = plugin_of(cluster.fabric).wiring.pool_units(cluster)
    if units is None:
        return None
    held = Counter[int]()
    for job in view.running:
        for plug in job.place.memory if job.place is not None else ():
            held[cluster.fabric.parse_device(plug.device)[0]] += len(plug.units)
    return {"units": units, "held": [held[server] for server in range(cluster.fabric.num_servers)]}


def _asked(job: JobState) -> dict[str, Any]:
    request = job.request
    model = request.workload.model
    return {
        "name": request.name,
        "number": job.number,
        "tenant": request.tenant,
        "priority": request.priority,
        "workload": request.workload.kind.replace("_", " "),
        "model": model if isinstance(model, str) else model.label,
        "arrived_s": job.arrived_s,
        "limit_s": request.duration_s,
    }


def _waiting(job: JobState) -> dict[str, Any]:
    assert job.waits_for is not None
    sizes = job.request.sizes
    asked = {"least": min(sizes), "most": max(sizes)}
    return _asked(job) | asked | {"tag": job.waits_for.tag, "because": job.waits_for.because}


def _growth(job: JobState) -> dict[str, Any] | None:
    """What a running job waits to be, if it waits for more accelerators."""
    return None if job.growth is None or job.growth.waits_for is None else _waiting(job.growth)


def _running(job: JobState, drawn: _Drawn) -> tuple[Place, dict[str, Any]]:
    """A running job where it is: told anew only where it moved."""
    place, known = job.place, drawn.running.get(job.request.name)
    assert place is not None
    if known is not None and known[0] is place:
        return known
    configurations = [wires for key, wires in place.wiring.configurations if served(key)[0] != MEMORY]
    return place, _asked(job) | {
        "size": len(place.devices),
        "started_s": job.started_s,
        "configuration": place.configuration.degrees,
        "circuits": sum(map(len, configurations)) + len(place.upper),
        "configurations": len(configurations),
        "memory": {"units": sum(len(plug.units) for plug in place.memory), "circuits": len(place.memory)},
        "links": list(_links(place)),
    }


def _links(place: Place) -> Iterator[Link]:
    """Light between servers: of each pair, the most wavelengths that one configuration has on."""
    most: dict[tuple[int, int], int] = {}
    server = [server for server, _ in place.devices]
    for _, wires in place.wiring.configurations:
        now: dict[tuple[int, int], int] = {}
        for wire in wires:
            pair = server[wire.source], server[wire.destination]
            if pair[0] != pair[1]:
                now[pair] = now.get(pair, 0) + wire.mask.bit_count()
        for pair, count in now.items():
            most[pair] = max(most.get(pair, 0), count)
    for (source, destination), count in most.items():
        yield source, destination, count
