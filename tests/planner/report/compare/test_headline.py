"""Who has the most value, in words, where rows are made up so that the answer is known."""

from planner.report.compare.headline import headline, title
from planner.report.compare.sheet import ComparisonSheet
from planner.studies.compare.rows import PolicyRow
from tests.planner.report.compare.rows import row


def _said(*rows: PolicyRow, are_same_jobs: bool = False) -> list[str]:
    return headline(ComparisonSheet(rows), are_same_jobs=are_same_jobs)


def test_one_policy_is_ahead_everywhere() -> None:
    said = _said(
        row("cpsat", 10.0), row("best_fit", 8.0),
        row("cpsat", 9.0, instance="tree"), row("best_fit", 6.0, instance="tree"),
    )  # fmt: skip
    assert said[0] == "cpsat has the most value in all 2 comparisons: 25 % to 50 % more than the best other policy."
    assert said[1] == "1 of 2 best values are proven optimal, the others within 10 % of the best that is possible."
    assert said[-1].startswith("One seed:")


def test_none_is_ahead_everywhere() -> None:
    rows = row("a", 10.0), row("b", 8.0), row("a", 5.0, instance="tree"), row("b", 6.0, instance="tree")
    assert _said(*rows)[0] == "Most value: a in 1, b in 1 of 2 comparisons."


def test_equal_values_are_no_lead() -> None:
    assert _said(row("a", 9.0), row("b", 9.0))[0] == "a has the most value; no policy has less."
    said = _said(row("a", 9.0), row("b", 9.0), row("c", 4.0))
    assert said[0] == "a and b have the most value: 125 % more than the best other policy."


def test_a_lead_over_nothing_has_no_percentage() -> None:
    said = _said(row("cpsat", 9.0), row("cpsat", 0.0, instance="tree"), are_same_jobs=True)
    assert said[0] == "rack has the most value; the others have none."


def test_what_chance_may_have_done_is_said() -> None:
    rows = [row(policy, value, seed=seed) for policy, values in (("a", (9.0, 5.0)), ("b", (6.0, 7.0)))
            for seed, value in enumerate(values)]  # fmt: skip
    said = _said(*rows)
    assert said[0].endswith("more than the best other policy, in 1 of them perhaps by chance.")
    assert said[-1].startswith("Means and 95 % intervals are of 2 seeds")


def test_plans_that_the_check_refuses_and_runs_without_plans_lead_nothing() -> None:
    refused = row("a", 9.0, violations=1), row("b", None)
    assert _said(*refused) == ["No policy has a plan that the check accepts for every seed."]
    said = _said(*refused, row("c", 4.0), row("a", None, instance="tree"))
    assert said[0] == "c has the most value; no policy has less."
    assert "1 comparison of 2 without any plan that the check accepts." in said


def test_instances_with_the_same_jobs_compete_each_by_its_best_policy() -> None:
    rows = row("lazy", 5.0), row("cpsat", 8.0), row("cpsat", 10.0, instance="tree"), row("lazy", 9.0, instance="tree")
    said = _said(*rows, are_same_jobs=True)
    assert said[0] == "tree has the most value: 25 % more than rack, the best other instance."
    assert said[1] == "1 of 2 best values are proven optimal, the others within 20 % of the best that is possible."
    values = {("a", 1): 8.0, ("b", 1): 6.0, ("a", 2): 9.0, ("b", 2): 6.0}
    at = [row("cpsat", value, instance=name, parameters={"cluster.fabric.fibers": fibers})
          for (name, fibers), value in values.items()]  # fmt: skip
    assert _said(*at, are_same_jobs=True)[0] == (
        "a has the most value in all 2 comparisons: 33 % to 50 % more than the best other instance."
    )


def test_one_policy_on_variants_or_alone() -> None:
    at = [row("cpsat", 4.0 + fibers, parameters={"cluster.fabric.fibers": fibers}) for fibers in (1, 2, 5)]
    assert _said(*at, are_same_jobs=True)[0] == (
        "fibers=5 has the most value: 50 % more than fibers=2, the best other variant."
    )
    weights = [row("cpsat", 4.0 + weight, parameters={"jobs[chat].weight": weight}) for weight in (1, 2)]
    assert _said(*weights)[0] == "Only cpsat was run. Name more policies or instances to compare."
    assert _said(row("cpsat", 4.0))[0] == "Only cpsat was run. Name more policies or instances to compare."
    assert _said(row("cpsat", 4.0), row("cpsat", 5.0, instance="tree"))[0] == (
        "Only cpsat was run, on instances with different jobs: their values do not compare."
    )


def test_the_title_counts_what_there_are_several_of() -> None:
    assert title(ComparisonSheet([row("a", 1.0), row("a", 1.0, instance="tree")])) == "rack, tree compared"
    assert title(ComparisonSheet([row("a", 1.0), row("b", 1.0)])) == "rack: 2 policies compared"
