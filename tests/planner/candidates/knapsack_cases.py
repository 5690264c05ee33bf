"""Shared by the tests of `knapsack_bounds` and `device_price`: tiny problems, and all that their devices can hold."""

from dataclasses import replace
from itertools import product
from random import Random

import numpy as np

from planner.candidates.expand import expand
from planner.fabrics.problem import Problem
from planner.model.instance import Instance
from tests.planner.small_racks import rack, serving


def small_problem(seed: int) -> Problem:
    """Up to four jobs with a few rows each, values at random, on five to twelve devices."""
    rng = Random(seed)
    jobs = [
        serving(f"j{i}", {"min": 1, "max": rng.randint(1, 6)}, required=rng.random() < 0.2)
        for i in range(rng.randint(1, 4))
    ]
    failed = [f"s0.t{slot}" for slot in range(rng.randint(0, 2))]
    data = rack(*jobs, tiles=rng.randint(3, 6), health={"failed_tiles": failed})
    options = []
    for each in expand(Instance.parse(data)).options:
        rows = np.array(sorted(rng.sample(range(len(each)), min(len(each), 4))), dtype=np.int64)
        taken = each.take(rows)
        options.append(replace(taken, value=np.array([rng.random() for _ in rows])))
    return replace(expand(Instance.parse(data)), options=tuple(options))


def combinations(problem: Problem) -> list[tuple[tuple[int | None, ...], float]]:
    """Every choice of rows that the healthy devices can hold together, with its value."""
    found = []
    ways = [[*([] if o.must_run else [None]), *range(len(o))] for o in problem.options]
    for rows in product(*ways):
        chosen = [(o, r) for o, r in zip(problem.options, rows, strict=True) if r is not None]
        if sum(int(o.candidates.num_devices[r]) for o, r in chosen) <= problem.cluster.num_healthy:
            found.append((rows, sum(float(o.value[r]) for o, r in chosen)))
    return found
