"""Shared by the tests of `asked_racks` and `rails_by_rack`: jobs that ask for servers by rack beside random others."""

from functools import cache
from itertools import combinations
from random import Random
from typing import Any

from planner.candidates.expand import expand
from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import JobOptions
from planner.fabrics.search import Search, Strategy
from planner.heuristics.greedy import place
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.plan import Assignment
from tests.oracles.by_rack import is_asked, racks_given
from tests.planner.checks.plans import TRAINING, job
from tests.planner.simulate.grounds import cluster

ASKED: tuple[Any, ...] = ((1,), (2,), (1, 2), (2, 2), (1, 1, 1), (3, 1), {"min": 2, "max": 2}, {"max": 2})


@cache
def options_of(kind: str, number: int, servers: int, each: int) -> JobOptions:
    """A job of so many servers of three racks with two or four devices on each server."""
    limits = {"per_server": each, "servers_by_rack": ASKED[number]}
    asking = job("a", servers * each, workload=TRAINING, constraints=limits)
    data = {"schema_version": 2, "name": "racks", "cluster": cluster_of(kind), "jobs": [asking]}
    return expand(Instance.parse(data)).options[0]


@cache
def cluster_of(kind: str) -> Cluster:
    """Three racks of three servers with four devices."""
    return cluster(kind, racks=3, servers=3, gpus_per_server=4)


def drawn(kind: str, draw: Random) -> tuple[JobOptions, FreeState]:
    """Such a job, and a state in which others hold some devices."""
    number = draw.randrange(len(ASKED))
    asked = ASKED[number]
    servers = sum(asked) if isinstance(asked, tuple) else draw.choice((2, 4))
    options = options_of(kind, number, servers, draw.choice((1, 2, 4)))
    free = FreeState.empty(cluster_of(kind))
    everywhere = [(server, slot) for server in range(9) for slot in range(4)]
    free.hold(draw.sample(everywhere, draw.randint(0, 24)))
    return options, free


def placed(options: JobOptions, free: FreeState, strategy: Strategy, rows: list[int]) -> Assignment | None:
    """The job by first fit, in one of these rows."""
    return place(free, options, Search(strategy), rows)


def is_possible(options: JobOptions, able: list[int]) -> bool:
    """Whether some of these servers are as many of each rack as is asked."""
    limits = options.job.constraints
    assert limits.per_server is not None
    number = min(options.job.sizes) // limits.per_server
    return any(
        is_asked(limits.servers_by_rack, racks_given(some, options.fabric)) for some in combinations(able, number)
    )
