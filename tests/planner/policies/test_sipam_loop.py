"""Joint plans against the published loop, job by job."""

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.fabrics.sipam.published_loop import loop_rows
from planner.model.instance import Instance
from planner.pipeline import solve
from tests.benchmarks.random_pools import random_pool
from tests.oracles.tiny_pools import tiny_pool
from tests.planner.fabrics.sipam.racks import QUICK
from tests.seeds import seeds


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(30, first=200))
def test_joint_plans_are_never_worse_than_the_loop(seed: int) -> None:
    instance = tiny_pool(seed, objectives=["value"])
    loop, joint = solve(instance, policy="sipam_loop"), solve(instance, options=QUICK)
    if loop.plan is None:
        return
    assert check(instance, loop.plan, starts=True) == []
    assert joint.plan is not None
    assert check(instance, joint.plan, starts=True) == []
    assert joint.objective is not None
    assert loop.objective is not None
    assert joint.objective >= loop.objective - 1e-9


@pytest.mark.slow
def test_the_choice_of_the_loop_is_always_a_candidate() -> None:
    instance = random_pool(64, 12, 0)
    problem, every = expand(instance), expand(instance, prune=False)
    for kept, listed in zip(problem.options, every.options, strict=True):
        mine = loop_rows(instance.cluster, kept.job, kept.candidates)
        theirs = loop_rows(instance.cluster, kept.job, listed.candidates)
        assert len(mine)
        assert kept.value[mine].max() == listed.value[theirs].max()


def test_where_memory_is_local_the_loop_is_best_fit() -> None:
    data = random_pool(32, 4, 0).model_dump(mode="json")
    data["cluster"]["fabric"] = {
        "kind": "fat_tree", "servers": 4, "gpus_per_server": 8, "nvlink_bandwidth": "450 GB/s", "nvlink_alpha": "1 us",
        "nvlink_energy": "2 pJ/b", "network_bandwidth": "50 GB/s", "network_alpha": "5 us", "network_energy": "20 pJ/b",
    }  # fmt: skip
    loop, best_fit = (solve(Instance.parse(data), policy=name) for name in ("sipam_loop", "best_fit"))
    assert loop.plan == best_fit.plan
