"""Savings by the printed percentages."""

import pytest

from tests.planner.studies.reproduce.experiments.photonic_fabric import outcome


def test_the_tables_leave_the_range_of_the_abstract() -> None:
    rows = {row.quantity: row for row in outcome("savings").rows}
    least, largest = rows["least saving, all traffic"], rows["largest saving, all traffic"]
    assert (least.verdict, largest.verdict) == ("contradicted", "contradicted")
    assert (least.ours, largest.ours) == (pytest.approx(52.3), pytest.approx(93.8))
    assert rows["mean saving, pipeline"].verdict == "by construction"


def test_percentages_are_those_of_the_cells() -> None:
    """Each printed percentage is the ratio of two printed cells, to a tenth."""
    cells = {row.quantity: row.published_number for name in ("collective_energy", "offload_energy")
             for row in outcome(name).rows if not row.quantity.endswith("by text")}  # fmt: skip
    models = [name.split()[1] for name in cells if name.startswith("TP") and name.endswith("NVIDIA")]
    printed = outcome("savings").published.inputs["remaining_percent"]
    for short, traffic in (("TP", "tensor"), ("offload", "offloading"), ("PP", "pipeline")):
        ratios = [
            100 * cells[f"{short} {model} PFMM {size}TB"] / cells[f"{short} {model} NVIDIA"]
            for model in models
            for size in (2, 4, 6)
        ]
        assert printed[traffic] == pytest.approx(ratios, abs=0.051)
