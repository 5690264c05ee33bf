"""Locks and switches between any two acts of which the daemon may die."""

from pathlib import Path
from typing import Any

from planner.controller.switch_driver import NO_CIRCUITS
from planner.integrations.slurm.allocations import Allocation, AllocationStore
from planner.integrations.slurm.config import SlurmConfig, SlurmSite
from planner.integrations.switch_drivers import Circuits, Driver
from tests.planner.integrations.slurm.fake import GPUS, FakeSlurm
from tests.planner.simulate.grounds import BERT, cluster

NODES = 4
RULES = {"greedy_budget_s": 5, "repair_budget_s": 1, "downtime_s": 1}
TILES = GPUS


class FragileTellings(AllocationStore):
    """Files, between any two of which the daemon may die."""

    slurm: FakeSlurm

    def keep(self, job: int, allocation: Allocation) -> None:
        self.slurm.point()
        super().keep(job, allocation)
        self.slurm.point()

    def heard(self, job: int) -> None:
        self.slurm.point()
        super().heard(job)

    def _bind(self, path: Path, indices: str, user_id: int) -> None:
        self.slurm.point()
        super()._bind(path, indices, user_id)

    def _unbind(self, job: int) -> None:
        self.slurm.point()
        super()._unbind(job)
        self.slurm.point()


class FragileDriver:
    """The daemon's side of the switches."""

    def __init__(self, driver: Driver, slurm: FakeSlurm) -> None:
        self._driver, self._slurm = driver, slurm

    def connect(self, job: str, circuits: Circuits) -> None:
        self._slurm.point()
        self._driver.connect(job, circuits)
        self._slurm.point()

    def release(self, job: str, but: Circuits = NO_CIRCUITS) -> None:
        self._slurm.point()
        self._driver.release(job, but)
        self._slurm.point()

    def applied(self) -> dict[str, Circuits]:
        return self._driver.applied()


def site(state: Path, bindings: Path) -> SlurmSite:
    config = SlurmConfig.model_validate(
        {
            "cluster": "cluster.yaml", "nodes": f"n[0-{NODES - 1}]", "state": str(state), "bindings": str(bindings),
            "driver": {"kind": "file"}, "workloads": {"bert": BERT}, "default_workload": "bert", "settings": RULES,
        }
    )  # fmt: skip
    of: Any = cluster("lightpath", servers=NODES, tiles_per_server=TILES)
    return SlurmSite(config, of, {f"n{i}": f"s{i}" for i in range(NODES)})
