"""What evaluation takes of the time of training, in words: by its forward passes, in a plan and for a job without."""

import re

from planner.candidates.evaluation_share import evaluation_in_words
from planner.model.instance import Instance
from planner.pipeline import solve
from tests.oracles.tiny_pools import evaluated_pool
from tests.paths import ROOT

SHARES = re.compile(r"evaluation takes ([\d.]+)% of its time, training ([\d.]+)%(, changing between them ([\d.]+)%)?")


def test_shares_add_up_and_changing_is_told_where_settings_differ() -> None:
    found = {}
    for seed in (9, 17):
        instance = evaluated_pool(seed)
        plan = solve(instance).plan
        assert plan is not None
        configuration, job = plan["j0"].configuration, instance.job("j0")
        told = SHARES.fullmatch(evaluation_in_words(instance.cluster, job, plan["j0"]))
        assert told is not None
        assert abs(sum(float(told[number] or 0) for number in (1, 2, 4)) - 100) < 0.11
        batches, every = job.workload.evaluation.batches, job.workload.evaluation.every  # type: ignore[union-attr]
        passes = 4 if configuration.recompute == "full" else 3
        assert 0.5 < float(told[1]) / float(told[2]) / (batches / every / passes) < 1.5
        found[seed] = told[3] is not None
        assert found[seed] == (configuration.first_phase is not None)
    assert set(found.values()) == {True, False}


def test_jobs_without_evaluation_are_told_nothing() -> None:
    instance = Instance.load(ROOT / "instances" / "sipam" / "alone_126m.yaml")
    plan = solve(instance).plan
    assert plan is not None
    job = instance.jobs[0]
    assert evaluation_in_words(instance.cluster, job, plan[job.name]) == ""
