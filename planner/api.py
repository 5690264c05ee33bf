"""The public API: what scripts, policies and fabrics of other distributions import. What is not named here is private.

    from planner.api import load, solve

    instance = load("instances/lumorph/rack64.yaml")
    print(solve(instance, time_limit_s=10))

Names stay and keep their meaning while the first number of `API_VERSION` stays; the second counts additions. Each is
imported when it is first used, so that `import planner.api` costs nothing. A wrong argument raises InputError, which
names the argument and the remedy.
"""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from costmodel.fabrics import FabricBase
    from costmodel.serving.front import serving_front
    from planner.candidates.expand import expand
    from planner.checked_solve import solve
    from planner.checks import check
    from planner.explain import explain
    from planner.explain.explanation import Explanation
    from planner.explain.marginal import Marginal, marginal
    from planner.fabrics.demand import Demand
    from planner.fabrics.free_state import FreeState
    from planner.fabrics.plugin import FabricPlugin
    from planner.fabrics.problem import JobOptions, Problem
    from planner.fabrics.search import Blocks, Strategy
    from planner.heuristics.greedy import place_all
    from planner.heuristics.strategies import in_order
    from planner.model.cluster import Cluster
    from planner.model.errors import InputError, RefusedPlanError
    from planner.model.instance import Instance
    from planner.model.job import Job
    from planner.model.plan import Assignment, Plan
    from planner.model.result import Incumbent, Level, Result, SolveOptions, Status
    from planner.model.violation import Violation
    from planner.policies import Policy
    from planner.policies.by_strategy import StrategyPolicy
    from planner.policies.heuristic import heuristic_result
    from planner.simulate.run_one import Outcome, SimulationRun
    from planner.studies.compare import Comparison
    from planner.whatif.repair import Repair, repair

API_VERSION = "1.1"

MODULE_OF_NAME = {
    "Assignment": "planner.model.plan",
    "Blocks": "planner.fabrics.search",
    "Cluster": "planner.model.cluster",
    "Comparison": "planner.studies.compare",
    "Demand": "planner.fabrics.demand",
    "Explanation": "planner.explain.explanation",
    "FabricBase": "costmodel.fabrics",
    "FabricPlugin": "planner.fabrics.plugin",
    "FreeState": "planner.fabrics.free_state",
    "Incumbent": "planner.model.result",
    "InputError": "planner.model.errors",
    "Instance": "planner.model.instance",
    "Job": "planner.model.job",
    "JobOptions": "planner.fabrics.problem",
    "Level": "planner.model.result",
    "Marginal": "planner.explain.marginal",
    "Outcome": "planner.simulate.run_one",
    "Plan": "planner.model.plan",
    "Policy": "planner.policies",
    "Problem": "planner.fabrics.problem",
    "RefusedPlanError": "planner.model.errors",
    "Repair": "planner.whatif.repair",
    "Result": "planner.model.result",
    "SimulationRun": "planner.simulate.run_one",
    "SolveOptions": "planner.model.result",
    "Status": "planner.model.result",
    "Strategy": "planner.fabrics.search",
    "StrategyPolicy": "planner.policies.by_strategy",
    "Violation": "planner.model.violation",
    "check": "planner.checks",
    "expand": "planner.candidates.expand",
    "explain": "planner.explain",
    "heuristic_result": "planner.policies.heuristic",
    "in_order": "planner.heuristics.strategies",
    "marginal": "planner.explain.marginal",
    "place_all": "planner.heuristics.greedy",
    "repair": "planner.whatif.repair",
    "serving_front": "costmodel.serving.front",
    "solve": "planner.checked_solve",
}
"""where each name is written that is not written here"""
__all__ = [
    "API_VERSION", "Assignment", "Blocks", "Cluster", "Comparison", "Demand", "Explanation", "FabricBase",
    "FabricPlugin", "FreeState", "Incumbent", "InputError", "Instance", "Job", "JobOptions", "Level", "Marginal",
    "Outcome", "Plan", "Policy", "Problem", "RefusedPlanError", "Repair", "Result", "SimulationRun", "SolveOptions",
    "Status", "Strategy", "StrategyPolicy", "Violation",
    "check", "compare", "expand", "explain", "heuristic_result", "in_order", "load",
    "marginal", "place_all", "repair", "replay", "score", "serving_front", "solve",
]  # fmt: skip


def load(path: str | Path) -> "Instance":
    """Read and validate an instance file, JSON or YAML; InputError names file, field and remedy."""
    from planner.model.errors import InputError
    from planner.model.instance import Instance

    if not isinstance(path, str | Path):
        raise InputError("load", "path", f"is a {type(path).__name__}; give the path of an instance file")
    return Instance.load(path)


def score(instance: "Instance", job: str) -> "JobOptions":
    """Every candidate of a job with its score, C rows each, dominated ones included; nothing is solved.

    InputError where the instance has no such job, or no candidate of it fits.
    """
    from planner.candidates.expand import list_options
    from planner.model.arguments import require_instance

    require_instance("score", instance)
    return list_options(instance, instance.job(job))


def compare(
    instances: Sequence["Instance"],
    policies: Sequence[str],
    *,
    seeds: int = 1,
    options: "SolveOptions | None" = None,
) -> "Comparison":
    """Every policy on every instance with seeds from that of the options on, jobs against one reference each."""
    from planner.model.arguments import require_count, require_list
    from planner.model.instance import Instance
    from planner.policies import find_policy
    from planner.studies import compare as study
    from planner.studies.compare.grid import Variant

    require_list("compare", instances, "instances", Instance, "[load('a.yaml'), load('b.yaml')]")
    require_list("compare", policies, "policies", str, "['cpsat', 'best_fit']")
    require_count("compare", seeds, "seeds")
    for policy in policies:
        find_policy(policy)
    return study.compare(
        [Variant(instance.name, {}, instance, instance) for instance in instances],
        policies,
        seeds=seeds,
        options=options,
    )


def replay(
    demand: str | Path,
    clusters: Mapping[str, "Cluster"],
    policies: Sequence[str],
    *,
    mix: str | Path | None = None,
    jobs: int | None = None,
    loads: Sequence[float | None] = (None,),
    seeds: int = 1,
    workers: int = 1,
) -> "dict[SimulationRun, Outcome]":
    """What policies make of a demand, event by event: one outcome for each cluster, policy, load and seed.

    `demand`: a table of jobs, or a file of the few numbers that they are drawn from; `mix`: what they run (None: the
    shipped one); `jobs`: how many of the demand in one replay; `loads`: accelerators asked for at once over all of the
    cluster (None: arrivals as the table has them).
    """
    from planner.model.arguments import require_count, require_list
    from planner.placement.job_mix import load_mix
    from planner.simulate.demand import load_demand
    from planner.simulate.study import cells_of, prepare_study, run_study
    from planner.simulate.trace import read_trace

    for name, count in (("seeds", seeds), ("workers", workers), ("jobs", 1 if jobs is None else jobs)):
        require_count("replay", count, name)
    require_list("replay", policies, "policies", str, "['first_fit', 'best_fit']")
    require_list("replay", loads, "loads", object, "[0.5, 0.9]")
    _require_clusters(clusters)
    _require_loads(loads)
    path = Path(demand)
    source = load_demand(path) if path.suffix in (".yaml", ".yml", ".json") else read_trace(path)
    study = prepare_study(source, load_mix(None if mix is None else Path(mix)), clusters, jobs=jobs)
    with TemporaryDirectory() as folder:
        return run_study(study, cells_of(study, policies, loads, seeds), Path(folder), workers=workers)


def _require_clusters(clusters: object) -> None:
    from planner.model.cluster import Cluster
    from planner.model.errors import InputError

    example = "{'mine': load('mine.yaml').cluster}"
    if not isinstance(clusters, Mapping) or not clusters:
        raise InputError("replay", "clusters", f"must be one or more clusters by name, as in {example}")
    for name, cluster in clusters.items():
        if not isinstance(cluster, Cluster):
            raise InputError("replay", f"clusters[{name}]", f"is a {type(cluster).__name__}; give a Cluster: {example}")


def _require_loads(loads: Sequence[float | None]) -> None:
    from planner.model.arguments import is_finite
    from planner.model.errors import InputError
    from planner.simulate.study import MOST_LOAD

    for load in loads:
        if load is not None and not (is_finite(load) and 0 < load <= MOST_LOAD):
            remedy = f"must be above 0 and at most {MOST_LOAD}, or None for arrivals as the table has them"
            raise InputError("replay", "loads", f"{remedy} (got {load!r})")


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in MODULE_OF_NAME:
        raise AttributeError(f"module 'planner.api' has no attribute '{name}'")
    return getattr(importlib.import_module(MODULE_OF_NAME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
