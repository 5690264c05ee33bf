"""Accelerators and circuits of each running job at one moment of a replay."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.lightpath.routes import Device
from planner.simulate.events import Simulation
from planner.simulate.runs import Run

MOST_WAITING = 40
"""waiting jobs that are named, the first in line"""


def snapshot(simulation: Simulation, at_s: float, tenant: NDArray[np.str_]) -> dict[str, Any]:
    """Running jobs and the queue as plain data; `tenant` is by job, devices are numbered server by server.

    `owner` is, for each device, a place in `jobs`, -1 for none; `spare` are devices that a job holds beside those that
    it uses, as rounding adds to slices.
    """
    cluster, runs = simulation.state.cluster, sorted(simulation.runs.running.values(), key=lambda run: run.job)
    fabric = cluster.fabric

    def number(device: Device) -> int:
        return device[0] * fabric.devices_per_server + device[1]

    owner = [-1] * fabric.num_devices
    spare: list[int] = []
    for place, run in enumerate(runs):
        for device in run.placement.held:
            owner[number(device)] = place
        spare += sorted(map(number, set(run.placement.held) - set(run.placement.devices)))
    return {
        "at_s": at_s,
        "owner": owner,
        "spare": spare,
        "failed": sorted(map(number, cluster.failed_devices)),
        "dark": sorted(map(number, cluster.dark_devices)),
        "jobs": [_running(simulation, run, at_s, tenant) for run in runs],
        **_queue(simulation, at_s, tenant),
    }


def _running(simulation: Simulation, run: Run, at_s: float, tenant: NDArray[np.str_]) -> dict[str, Any]:
    entry = _job(simulation, run.job, tenant)
    return entry | {"since_s": at_s - simulation.log.start_s[run.job], "left_s": max(0.0, run.end_s - at_s)}


def _queue(simulation: Simulation, at_s: float, tenant: NDArray[np.str_]) -> dict[str, Any]:
    """Waiting jobs: the first ones by name, and how many accelerators all of them ask for."""
    queue, jobs = simulation.queue, simulation.jobs
    line = [head := queue.head(), *queue.behind(head, set())] if queue.length else []
    first = [_job(simulation, job, tenant) | {"since_s": at_s - jobs.arrival_s[job]} for job in line[:MOST_WAITING]]
    return {"waiting": first, "num_waiting": len(line), "asked": sum(jobs.kind[job].held for job in line)}


def _job(simulation: Simulation, job: int, tenant: NDArray[np.str_]) -> dict[str, Any]:
    """Number in the order of arrival from 1 on, and what it is."""
    kind = simulation.jobs.kind[job]
    return {"number": job + 1, "name": kind.name, "size": kind.size, "tenant": str(tenant[job])}
