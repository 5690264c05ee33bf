"""Who leads among what: rows are made up so that the answer is known."""

import pytest

from planner.report.compare.leads import contenders, lead_row, leads, leads_among
from planner.report.compare.sheet import ComparisonSheet
from tests.planner.report.compare.rows import row

TWO = ComparisonSheet([
    row("lazy", 5.0), row("cpsat", 8.0), row("cpsat", 10.0, instance="tree"), row("lazy", 10.0, instance="tree"),
])  # fmt: skip


def test_what_contends() -> None:
    variants = ComparisonSheet([row("a", 4.0, parameters={"cluster.fabric.fibers": fibers}) for fibers in (1, 2)])
    weights = ComparisonSheet([row("a", 4.0, parameters={"jobs[chat].weight": weight}) for weight in (1, 2)])
    assert contenders(TWO, are_same_jobs=True) == "instance"
    assert contenders(TWO, are_same_jobs=False) == "policy"
    assert contenders(variants, are_same_jobs=True) == "variant"
    assert contenders(weights, are_same_jobs=True) == "policy"


def test_policies_contend_on_each_instance_and_instances_by_their_best() -> None:
    rack, tree = leads(TWO)
    assert (rack.best.run, rack.more) == (("rack", "cpsat"), pytest.approx(0.6))
    assert (tree.best.run, [tie.run for tie in tree.ties], tree.other) == (("tree", "cpsat"), [("tree", "lazy")], None)
    (lead,) = leads_among(TWO, "instance", (rack, tree))
    assert lead.best.run == ("tree", "cpsat")
    assert lead.other is not None
    assert lead.other.run == ("rack", "cpsat")
    assert lead.more == pytest.approx(0.25)
    assert lead_row(TWO, rack)["best"] == TWO.runs.index(("rack", "cpsat"))
    assert lead_row(TWO, tree)["ties"] == ["lazy"]
