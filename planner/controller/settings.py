"""Requests of users, and the settings of a controller."""

import math
from typing import Annotated, Self

from pydantic import Field, model_validator

from costmodel.spec import Bytes, Duration, Seconds, Spec
from planner.model.job import Job

REPAIR_S, REPAIR_ACCELERATORS = 0.025, 256
"""budget of CP-SAT that an event has by default, and the size up to which it has this one"""
MOST = 10**9
"""of anything that is counted"""
MOST_PRIORITY = 1_000_000
"""and as far below 0"""


class Request(Job):
    """A job that wants to run, with what a scheduler must know of it beyond the planner's fields.

    `duration_s` is its limit: the promise on which reservations are built. Without it nothing is promised.
    """

    priority: int = Field(default=0, ge=-MOST_PRIORITY, le=MOST_PRIORITY)
    """the higher goes first"""
    preemptible: bool = True
    """whether a job of a higher priority may stop it; it then waits again"""
    movable: bool = True
    """whether it may pause and go on elsewhere, so that another job finds room"""

    @model_validator(mode="after")
    def _has_a_size(self) -> Self:
        if self.accelerators == ():
            raise ValueError("accelerators: the list is empty; give at least one size")
        return self


class Quota(Spec):
    """What one tenant may hold at once, and its share of the cluster."""

    accelerators: int | None = Field(default=None, ge=0)
    """most accelerators; None: any number"""
    ports: int | None = Field(default=None, ge=0)
    """most optical ports: accelerators of jobs that hold circuits; None: any number"""
    share: float = Field(default=1.0, gt=0, le=1e6)
    """weight in fair share: of tenants with equal priority the one with the least use over its share goes first"""


class Settings(Spec):
    """Rules of one controller: `--settings FILE` of `planner serve`, `settings:` of slurm.yaml."""

    quotas: dict[str, Quota] = Field(default_factory=dict)
    """by tenant; a tenant that is not named has no limit and share 1"""
    half_life_s: Annotated[Duration, Field(gt=0)] = 7 * 86400.0
    """after which past use counts half in fair share"""
    patience_s: Duration = 86400.0
    """a job that waited longer goes before all that did not, by arrival alone: the bound on starvation rests on it"""
    downtime_s: Duration = 60.0
    """pause of a job that moves"""
    expected_wait_s: Duration = 3600.0
    """wait that moves are weighed against where no running job says when it ends"""
    greedy_budget_s: Annotated[Seconds, Field(gt=0)] = 0.0003
    """most time that the search for a place takes for the first job, and again for all behind it, at one event"""
    repair_budget_s: Seconds | None = None
    """most time for CP-SAT at one event: neighbours that move, or fewest victims; 0: never; None: 25 ms on up to 256
    accelerators, growing with the root of their number, 100 ms on 4,096"""
    moves: bool = True
    """whether running jobs may move so that a waiting one finds room"""
    preempts: bool = True
    """whether jobs of a higher priority may stop others"""
    most_preemptions: int = Field(default=1, ge=0, le=MOST)
    """times that one job may be stopped for others"""
    depth: int = Field(default=50, ge=1, le=MOST)
    """waiting jobs behind the first that are looked at during one event"""
    kinds_memory_bytes: Annotated[Bytes, Field(gt=0)] = 2.0**30
    """most memory for what different jobs may run as: kinds that nobody asked for lately are forgotten, and a new one
    is refused for now where those of jobs that wait or run leave no room for it"""
    snapshot_every: int = Field(default=5000, ge=1, le=MOST)
    """events between two snapshots of the journal"""
    keep_events: int = Field(default=100_000, ge=1, le=MOST)
    """events that the journal keeps; an idempotency key holds as long as its event"""

    @model_validator(mode="after")
    def _tenants_have_names(self) -> Self:
        if "" in self.quotas:
            raise ValueError("quotas: a tenant has an empty name; give it one")
        return self

    def quota(self, tenant: str) -> Quota:
        """Limits and share of a tenant."""
        return self.quotas.get(tenant, _OPEN)

    def repair_s(self, accelerators: int) -> float:
        """Time for CP-SAT at one event, on a cluster of so many accelerators."""
        if self.repair_budget_s is not None:
            return self.repair_budget_s
        return REPAIR_S * math.sqrt(max(1.0, accelerators / REPAIR_ACCELERATORS))


_OPEN = Quota()
