"""The driver over emulated switches that fail by seed: jobs get half of their circuits, and the others beside them."""

from dataclasses import dataclass, field

from planner.integrations.switch_drivers import Circuits, Driver
from planner.integrations.switch_emulator import Holding
from tests.planner.integrations.switch_drivers.ocs.faulty_world import JOBS, World
from tests.planner.integrations.switch_drivers.ocs.site import plan_of

GROWS = 0.7
"""share of changes of a job that has half of its circuits after which it is to have all"""


@dataclass
class GrowingWorld(World):
    """Its jobs grow before most of them go."""

    grown: dict[str, tuple[float, float | None]] = field(default_factory=dict)
    """by job that is to have all of its circuits: as `since`, of the second half"""

    def __post_init__(self) -> None:
        super().__post_init__()
        plan = plan_of(self.site.kind)[1]
        self.halves = {
            job: tuple(each.model_copy(update={"circuits": each.circuits[::2]}) for each in plan[job].circuits)
            for job in JOBS
        }
        self.first = {job: self.ports_of(plan[job].model_copy(update={"circuits": self.halves[job]})) for job in JOBS}

    def _wanted(self, job: str) -> Circuits:
        if job in self.grown:
            return super()._wanted(job)
        return [held.model_dump(mode="json", by_alias=True) for held in self.halves[job]]

    def _change(self, driver: Driver, job: str) -> None:
        if job in self.since and job not in self.grown and self.random.random() < GROWS:
            self.grown[job] = self.now_s, None
            self._connect(driver, job)
        else:
            super()._change(driver, job)

    def _connect(self, driver: Driver, job: str) -> None:
        before = self.counts["connect"]
        super()._connect(driver, job)
        if job in self.grown and self.counts["connect"] > before:
            from_s, started_s = self.grown[job]
            self.counts["grown"] += started_s is None
            self.grown[job] = from_s, started_s or self.now_s

    def _give_up(self, job: str, until_s: float) -> None:
        from_s, started_s = self.since.pop(job)
        self.held.append(Holding(job, self.first[job], from_s, until_s, started_s))
        if job in self.grown:
            from_s, started_s = self.grown.pop(job)
            self.held.append(Holding(job, self.circuits[job] - self.first[job], from_s, until_s, started_s))
