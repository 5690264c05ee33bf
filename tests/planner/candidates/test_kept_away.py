"""The shipped services that keep shares in a second tier: what that is worth, and what binds, told everywhere alike."""

import pytest

from planner import Instance, check, solve
from planner.candidates.kept_away import kept_away_in_words
from planner.cli.tables.jobs_table import phase_lines
from planner.explain import explain
from planner.model.result import Result, Status
from planner.report.jobs import job_rows
from tests.paths import ROOT

FOLDER = ROOT / "instances" / "serving"


def solved(name: str) -> tuple[Instance, Result]:
    instance = Instance.load(FOLDER / f"{name}.yaml")
    result = solve(instance, time_limit_s=60, seed=1)
    assert result.plan is not None
    assert all(level.status is Status.OPTIMAL for level in result.levels)
    assert check(instance, result.plan) == []
    return instance, result


def test_shares_in_memory_nodes_let_more_run() -> None:
    (instance, tiered), (_, plain) = solved("second_tier"), solved("second_tier_plain")
    assert tiered.plan is not None
    assert plain.plan is not None
    speed, without = ({each.job: each.speed for each in found.plan.assignments} for found in (tiered, plain))
    assert (len(speed), len(without)) == (3, 1)
    assert len(plain.plan["large-model"].devices) == 2 * len(tiered.plan["large-model"].devices)
    assert (tiered.objective, plain.objective) == (pytest.approx(13.27, abs=0.01), pytest.approx(10.78, abs=0.01))
    words = {job.name: kept_away_in_words(instance.cluster, job, tiered.plan[job.name]) for job in instance.jobs}
    assert words["large-model"].startswith("weights 37.5 % in memory-node: 37.7 of 1,280 GB for each accelerator")
    assert words["large-model"].endswith("of its time: the bandwidth of memory-node binds")
    assert words["chat"].endswith("behind operators: the 86 GB of its own memory bind")
    lines = phase_lines(instance, tiered.plan)
    assert all(f"{name}: keeps {text}" in lines for name, text in words.items())
    rows = {row["name"]: row["plan"]["kept_away"] for row in job_rows(instance, tiered, {})}
    assert rows == words
    told = explain(instance, "chat", plan=tiered.plan, time_limit_s=5)
    assert any(statement.text == f"it keeps {words['chat']}" for statement in told.statements)


def test_units_behind_memory_over_light_let_all_run() -> None:
    """Beside training each pair of files has two jobs that run with a second tier alone."""
    for name, value, plain in (("appliance_tier", 6.832, 2.846), ("optical_hbm_tier", 7.086, 5.486)):
        instance, tiered = solved(f"../providers/{name}")
        _, without = solved(f"../providers/{name}_plain")
        assert (tiered.objective, without.objective) == (
            pytest.approx(value, abs=0.01),
            pytest.approx(plain, abs=0.01),
        )
        assert tiered.plan is not None
        assert without.plan is not None
        assert (len(tiered.plan.assignments), len(without.plan.assignments)) == (3, 1)
        words = kept_away_in_words(instance.cluster, instance.job("training"), tiered.plan["training"])
        assert words.startswith("activations+optimizer in cxl-ddr5 x ")


def test_tiles_divide_wavelengths_between_circuits_and_modules() -> None:
    """Each of three jobs otherwise; two run where tiles have no modules."""
    instance, tiered = solved("../lumorph/modules16")
    _, without = solved("../lumorph/modules16_plain")
    assert (tiered.objective, without.objective) == (pytest.approx(8.022, abs=0.01), pytest.approx(7.242, abs=0.01))
    assert tiered.plan is not None
    assert without.plan is not None
    assert len(without.plan.assignments) == 2
    split = {
        each.job: (each.configuration.memory_units, each.configuration.memory_io) for each in tiered.plan.assignments
    }
    assert split == {"training": (2, 8), "large-model": (3, 12), "long-documents": (None, None)}
    words = kept_away_in_words(instance.cluster, instance.job("large-model"), tiered.plan["large-model"])
    assert words.endswith("the bandwidth of cxl-ddr5 x 3 binds")


def test_nothing_is_said_of_jobs_that_keep_all_at_home() -> None:
    instance, plain = solved("second_tier_plain")
    assert plain.plan is not None
    assert not kept_away_in_words(instance.cluster, instance.job("large-model"), plain.plan["large-model"])
