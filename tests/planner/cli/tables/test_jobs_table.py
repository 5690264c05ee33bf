"""Tables of jobs show both settings of a service and its gain."""

import pytest

from costmodel.parallelism.configuration import Configuration
from planner.candidates.phase_settings import gain_of_phases
from planner.candidates.priced_rows import PricedRows
from planner.cli.tables.jobs_table import MOST_ROWS, chosen, job_row, most_valuable, phase_lines
from planner.explain.admitted import what_phases_gain
from planner.model.plan import Assignment, Plan
from planner.pipeline import solve
from tests.planner.candidates.phase_settings_cases import OPTIONS, planned, with_one_setting


@pytest.mark.slow
def test_tables_and_explanations_show_both_settings_and_the_gain() -> None:
    instance, plan = planned()
    job = instance.job("llama70b-documents")
    row = job_row(instance, job, plan[job.name], PricedRows(instance.cluster))
    assert row[3] == "tp8, 10 units"
    assert row[4] == "by phase, see below"
    (line,) = (line for line in phase_lines(instance, plan) if line.startswith(job.name))
    settings = "prefill: tensor ring w4, 8 units over 8 I/Os; decode: tensor ring w2, 10 units over 10 I/Os"
    gain = 100 * gain_of_phases(instance.cluster, job, plan[job.name].configuration)
    assert line == f"{job.name}: {settings}; {gain:.1f} % faster than with one setting"
    (statement,) = what_phases_gain(instance, plan, job.name)
    assert statement.text.endswith(f"{gain:.1f}% faster than with one setting")
    assert not list(what_phases_gain(with_one_setting(instance), one_setting_plan(), job.name))


def one_setting_plan() -> Plan:
    result = solve(with_one_setting(planned()[0]), options=OPTIONS)
    assert result.plan is not None
    return result.plan


def test_of_many_jobs_the_most_valuable_are_shown() -> None:
    given = [
        Assignment(job=f"j{i}", configuration=Configuration(), devices=(f"s0.t{i}",), value=float(i % 150))
        for i in range(300)
    ]
    shown = most_valuable(Plan(instance="n", assignments=tuple(given)))
    assert len(shown) == MOST_ROWS
    assert min(each.value for each in shown) == 100.0
    assert [each.job for each in shown] == [each.job for each in given if each.value >= 100.0]
    assert most_valuable(Plan(instance="n", assignments=tuple(given[:5]))) == given[:5]


def test_what_was_chosen_is_told_but_for_what_is_usual() -> None:
    assert chosen(Configuration(interleave=1, recompute="none", zero=1, rank_order="tp-cp-pp-dp")) == []
    some = Configuration(
        tensor=2, interleave=4, recompute="full", zero=2, sequence_parallel=True, schedule="zero_bubble"
    )
    assert chosen(some) == ["v4", "zero_bubble", "recompute full", "zero2", "sp"]
    assert chosen(Configuration(rank_order="tp-cp-dp-pp", offload="weights")) == [
        "order tp-cp-dp-pp", "offload weights",
    ]  # fmt: skip
