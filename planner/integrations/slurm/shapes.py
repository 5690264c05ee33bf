"""Which shapes of jobs can ever run: each is tried alone on the empty cluster, as the daemon would place it."""

from functools import cache

from planner.controller.controller import Controller
from planner.controller.settings import Request, Settings
from planner.integrations.slurm.config import SlurmSite
from planner.integrations.slurm.loop import REPLAN_BUDGET_S
from planner.model.edit import edited
from planner.model.errors import InputError
from planner.model.health import Health

MOST_ACCELERATORS = 256
"""of a shape that is tried: larger ones take seconds each, and are let through"""
_PATIENT = Settings(greedy_budget_s=REPLAN_BUDGET_S / 2, repair_budget_s=0.0, moves=False, preempts=False)
Shapes = dict[str, dict[int, tuple[int, ...]]]
"""by workload and GPUs on each node: numbers of nodes on which it runs, ascending"""


def tried(site: SlurmSite, gpus: int) -> int:
    """Most nodes of a shape that is tried, with so many GPUs on each."""
    return min(site.cluster.fabric.num_servers, max(1, MOST_ACCELERATORS // gpus))


def shapes_of(site: SlurmSite) -> Shapes:
    """All shapes that run, of those that are tried."""
    return _shapes(_Key(site))


class _Key:
    """A site by what its shapes depend on."""

    def __init__(self, site: SlurmSite) -> None:
        self.site = site
        self.text = site.cluster.model_dump_json() + site.config.model_dump_json(include={"workloads"})

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.text == other.text


@cache
def _shapes(key: _Key) -> Shapes:
    site = key.site
    return {
        name: {gpus: _numbers_of_nodes(site, name, gpus) for gpus in range(1, site.gpus_per_node + 1)}
        for name in site.config.workloads
    }


def _numbers_of_nodes(site: SlurmSite, workload: str, gpus: int) -> tuple[int, ...]:
    with Controller(edited(site.cluster, health=Health()), settings=_PATIENT) as controller:
        return tuple(n for n in range(1, tried(site, gpus) + 1) if _runs(controller, site, workload, gpus, n))


def _runs(controller: Controller, site: SlurmSite, workload: str, gpus: int, nodes: int) -> bool:
    body = {
        "name": "shape", "workload": site.config.workloads[workload], "accelerators": gpus * nodes,
        "constraints": {"per_server": gpus},
    }  # fmt: skip
    request = Request.model_validate(body)
    try:
        controller.submit(request)
    except InputError:
        return False
    is_running = request.name in controller.running
    controller.cancel(request.name)
    return is_running
