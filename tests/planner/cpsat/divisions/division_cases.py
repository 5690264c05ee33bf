"""Shared by the tests of divisions."""

from random import Random
from typing import Any

from planner.candidates.expand import expand
from planner.cpsat.divisions.joined_servers import JoinedServers
from planner.cpsat.divisions.ways import CountsOf, JobWays, ways_of
from planner.cpsat.search import Search
from planner.fabrics import plugin_of
from planner.fabrics.problem import Problem
from planner.model.instance import Instance
from tests.planner.cpsat.search_cases import OPTIONS
from tests.planner.small_racks import rack, serving

KINDS: tuple[tuple[dict[str, Any], tuple[int, ...]], ...] = (
    (
        {"kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": 16, "input_tokens": 1024,
         "output_tokens": 256},
        (1, 2, 3, 4, 5),
    ),
    (
        {"kind": "transformer_training", "model": "gpt3-22b", "global_batch": 48, "sequence": 2048, "micro_batch": 1},
        (6, 7, 8, 9, 12),
    ),
    ({"kind": "network_training", "model": "resnet-34", "global_batch": 240}, (2, 3, 5, 6)),
    ({"kind": "dlrm", "mode": "inference", "model": "dlrm-dcnv2", "batch": 4096}, (2, 3, 4, 8)),
)  # fmt: skip
"""workloads, and sizes that they accept"""


def narrow_fibers(seed: int) -> Instance:
    """Two or three jobs on as many small servers: fibers carry less than tiles send, so that circuits refuse many rows
    of which others of less value stand."""
    rng = Random(seed)
    servers, tiles, jobs = rng.choice((2, 3)), rng.choice((3, 4, 5)), list[dict[str, Any]]()
    for number in range(rng.choice((2, 3))):
        workload, every = rng.choice(KINDS)
        sizes = [size for size in every if size <= servers * tiles]
        asked = sorted(rng.sample(sizes, min(2, len(sizes))))
        weight = rng.choice((1, 2, 3))
        jobs.append({"name": f"job{number}", "workload": workload, "accelerators": asked, "weight": weight})
    light = {
        "fibers": rng.choice((1, 2)), "wavelengths_per_fiber": rng.choice((4, 6)), "max_peers": rng.choice((2, 3)),
        "wavelengths_per_tile": rng.choice((4, 7, 8)),
    }  # fmt: skip
    return Instance.parse(rack(*jobs, servers=servers, tiles=tiles, **light))


def problem_of(*jobs: dict[str, Any], **fabric: Any) -> Problem:
    """Servers of four tiles with three wavelengths, of which fibers carry two."""
    light = {"fibers": 2, "wavelengths_per_tile": 3, "wavelengths_per_fiber": 2}
    return expand(Instance.parse(rack(*jobs, **(light | fabric))))


def search_of(problem: Problem) -> Search:
    return Search(problem, OPTIONS)


def counts_of(problem: Problem) -> CountsOf:
    found = plugin_of(problem.cluster.fabric).step_one.counts_of(problem.cluster)
    assert found is not None
    return found


def joined_servers(problem: Problem) -> JoinedServers:
    cluster = problem.cluster
    links = plugin_of(cluster.fabric).step_one.pair_light(cluster)
    assert links is not None
    return JoinedServers(links, range(cluster.fabric.num_servers))


def ways(problem: Problem, j: int = 0, rooms: tuple[int, ...] = (4, 4)) -> JobWays:
    options = problem.options[j]
    found = ways_of(j, options, options.value, float("-inf"), counts_of(problem), rooms)
    assert found is not None
    return found


def exchanging(name: str = "x", **fields: Any) -> dict[str, Any]:
    """One user, so that four ranks exchange with all others by a wavelength: over fibers of two only halves part."""
    return joined(name, "exchange", **fields)


def ringing(name: str = "x", **fields: Any) -> dict[str, Any]:
    """Four ranks on a ring."""
    return joined(name, "ring", **fields)


def joined(name: str, collective: str, **fields: Any) -> dict[str, Any]:
    job = serving(name, 4, constraints={"collective": collective} | fields.pop("constraints", {}), **fields)
    job["workload"]["concurrency"] = 1
    return job
