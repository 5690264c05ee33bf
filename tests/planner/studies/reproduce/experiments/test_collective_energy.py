"""Energies and embedding pooling of the Photonic Fabric, recomputed cell by cell from plain arithmetic."""

from itertools import combinations, product
from statistics import fmean
from typing import Any

import pytest

from tests.paths import SHARED
from tests.planner.studies.reproduce.experiments.photonic_fabric import models, outcome, tebibytes

PAPER = SHARED / "papers" / "002_d759b1bbd6e98640.txt"
SYSTEMS = ("NVIDIA", "PFMM 2TB", "PFMM 4TB", "PFMM 6TB")
PICOJOULE_PER_BIT = {"NVIDIA": (50, 165, 235), **dict.fromkeys(SYSTEMS[1:], (10, 30, 50))}


def mean_pair(accelerators: int, tray: float, rack: float, inter: float) -> float:
    """pJ/bit over all pairs of accelerators 0, 1, 2 ..., eight to a tray and 64 to a rack, pair by pair."""
    return fmean(
        tray if a // 8 == b // 8 else rack if a // 64 == b // 64 else inter
        for a, b in combinations(range(accelerators), 2)
    )


@pytest.mark.slow
@pytest.mark.parametrize("model", models("collective_energy"), ids=lambda model: model["name"])
def test_tensor_and_pipeline_cells(model: Any) -> None:
    found = outcome("collective_energy").quantities
    for system in SYSTEMS:
        accelerators, multiplier = model["groups"][system]
        bits = tebibytes(model) * 8e12
        joules = bits * mean_pair(accelerators, *PICOJOULE_PER_BIT[system]) * 1e-12
        assert found[f"PP {model['name']} {system}"] == pytest.approx(joules / 2)
        assert found[f"TP {model['name']} {system}"] == pytest.approx(8 * multiplier * joules)
        assert found[f"TP {model['name']} {system}, all bytes"] == pytest.approx(8.796093022208 * multiplier * joules)


def test_both_files_have_the_same_shapes() -> None:
    shapes = [
        [(m["name"], m["layers"], m["hidden"]) for m in models(f"{name}_energy")] for name in ("collective", "offload")
    ]
    assert shapes[0] == shapes[1]


def test_all_cells_of_tables_2_and_4_are_within_a_thousandth() -> None:
    rows = [row for row in outcome("collective_energy").rows if not row.quantity.endswith("by text")]
    assert len(rows) == 88
    assert {(row.verdict, row.tolerance) for row in rows} == {("fitted", "0.1 %")}


def test_tensor_by_pipeline_is_sixteen_times_the_multiplier() -> None:
    found = outcome("collective_energy").quantities
    for model, system in product(models("collective_energy"), SYSTEMS):
        cell = f"{model['name']} {system}"
        assert found[f"TP {cell}"] / found[f"PP {cell}"] == pytest.approx(16 * model["groups"][system][1])


def test_the_parts_of_the_text_overshoot_the_tables() -> None:
    """By 13 % for 16 accelerators up to 62 % for 256."""
    rows = [row for row in outcome("collective_energy").rows if row.quantity.endswith("by text")]
    assert {row.verdict for row in rows} == {"contradicted"}
    over = [100 * ((row.ours or 0) / row.beside["parts of the tables"] - 1) for row in rows]
    assert over == pytest.approx([12.9, 15.2, 16.0, 50.9, 61.7], abs=0.05)


@pytest.mark.skipif(not PAPER.is_file(), reason="the text of the paper is not beside the repository")
def test_published_cells_are_those_of_the_paper() -> None:
    printed: dict[str, float] = {}
    traffic = ""
    for line in PAPER.read_text("utf-8").splitlines():
        for title, short in (("Tensor P", "TP"), ("Pipeline P", "PP"), ("Memory O", "offload")):
            traffic = short if line.startswith(title) and "Power Costs (kJ" in line else traffic
        cells = line.split("\t")
        if traffic and len(cells) >= 7 and cells[0].rstrip("T ").isdigit():
            for system, column in zip(SYSTEMS, (1, 2, 4, 6), strict=True):
                printed[f"{traffic} {cells[0].replace(' ', '')} {system}"] = float(cells[column].replace(",", ""))
    assert len(printed) == 132
    files = [outcome("collective_energy"), outcome("offload_energy")]
    ours = {row.quantity: row.published for each in files for row in each.rows if row.quantity in printed}
    assert ours == printed


def test_candidates_send_what_rings_and_boundaries_do() -> None:
    """1T on NVIDIA: 16 ranks, each sends 15 / 16 of the activations of all tokens ten times, as inputs are
    gathered anew in the backward pass; 32 stages."""
    found = outcome("collective_energy").quantities
    volume_bytes = 128 * 24576 * 8192 * 3072 * 2
    j_per_byte = found["PP 1T NVIDIA, all bytes"] / (0.5 * volume_bytes)
    tensor_j = 10 * 15 * volume_bytes * j_per_byte
    assert found["TP 1T NVIDIA, by the product's model"] == pytest.approx(tensor_j, rel=0.01)
    pipeline_j = 2 * 31 * volume_bytes / 128 * j_per_byte
    assert found["PP 1T NVIDIA, by the product's model"] == pytest.approx(pipeline_j, rel=0.05)
