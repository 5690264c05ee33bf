"""Shared by the tests of `constraints` and `constraints`."""

from collections.abc import Callable
from typing import Any

from planner.candidates.expand import expand
from planner.fabrics.demand import Demand
from planner.fabrics.pattern import Choice
from planner.model.instance import Instance
from tests.oracles.tiny_pools import SMALL
from tests.planner.fabrics.conformance.patterns import Drawn

TRAINING = {"kind": "transformer_training", "model": SMALL, "global_batch": 12, "sequence": 128, "micro_batch": 1}


def two_jobs(fabric: dict[str, Any], suits: Callable[[Demand], bool], **health: list[str]) -> Drawn:
    """Two jobs of four ranks, two of them on each of two servers, in the first configuration that suits."""
    jobs = [{"name": name, "workload": TRAINING, "accelerators": 4} for name in ("a", "b")]
    cluster = {"device": "h100-sxm", "fabric": fabric, "health": health}
    problem = expand(
        Instance.parse({"schema_version": 2, "name": "two", "cluster": cluster, "jobs": jobs, "objectives": ["value"]}),
        prune=False,
    )

    pattern = {
        j: Choice(
            next(row for row, demand in enumerate(options.shapes) if demand.block == 2 and suits(demand)),
            False,
            ((0, 1), (1, 1)),
        )
        for j, options in enumerate(problem.options)
    }
    return Drawn(fabric["kind"], problem, pattern)


def is_short_for_both(each: Drawn) -> bool:
    return each.without(0).is_allowed and each.without(1).is_allowed and not each.is_allowed
