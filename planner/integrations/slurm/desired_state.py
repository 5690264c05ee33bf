"""Desired state: the running and waiting jobs of a controller as nodes, indices and circuits of Slurm."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from planner.integrations.slurm.allocations import Allocation, allocation_of
from planner.integrations.slurm.config import SlurmSite
from planner.integrations.slurm.observed_state import DesiredState, number_of

if TYPE_CHECKING:
    from planner.controller.view import View
    from planner.placement.placement import Place


def desired_state_of(
    view: "View", site: SlurmSite, known: "Callable[[int, Place], Allocation] | None" = None
) -> DesiredState:
    """One moment of the controller; `known` may remember places."""
    node_of = {server: node for node, server in site.server_of_node.items()}
    tell = known or (lambda job, place: allocation_of(place, node_of, 0))
    states = {number_of(each.request.name): each for each in (*view.running, *view.waiting)}
    jobs = {job: each for job, each in states.items() if job is not None}
    failed = frozenset(view.failed)
    return DesiredState(
        requests={job: each.request for job, each in jobs.items()},
        places={job: tell(job, each.place) for job, each in jobs.items() if each.place is not None},
        why={job: each.waits_for.because for job, each in jobs.items() if each.waits_for is not None},
        failed=failed,
        drained=frozenset(view.drained),
        dead=_dead(site, failed),
    )


def _dead(site: SlurmSite, failed: frozenset[str]) -> frozenset[str]:
    fabric = site.cluster.fabric
    return frozenset(
        fabric.server_name(server)
        for server in range(fabric.num_servers)
        if all(fabric.device_name(server, slot) in failed for slot in range(fabric.devices_per_server))
    )
