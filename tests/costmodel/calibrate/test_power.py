"""Power tables: predictions are those of the planner's candidates, and what cannot be predicted is left out."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from costmodel.calibrate.power import FAMILY, predict
from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import load_device
from costmodel.hardware.systems import load_system
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from costmodel.workloads import TransformerInference
from planner.studies.validate import validate_table
from planner.tables import read_table

PUBLISHED = Path(__file__).parents[3] / "instances/published/power.csv"
SERVED = {
    "device": "h100", "model": "llama-3.1-8b", "precision": "bf16", "devices": 2.0, "tensor": 2.0,
    "part": "accelerator", "power_w": 500.0, "concurrency": 16.0, "input_tokens": 100.0, "output_tokens": 400.0,
    "backend": "vllm",
}  # fmt: skip
TRAINED = {
    "device": "h100", "model": "llama-2-13b", "precision": "bf16", "devices": 8.0, "part": "server", "power_w": 7752.0,
    "global_batch": 64.0, "sequence": 4096.0,
}  # fmt: skip


def power_w(row: dict[str, Any], **changed: Any) -> float:
    return float(predict({name: np.array([value]) for name, value in (row | changed).items()}, None)[0].predicted[0])


def test_a_row_draws_what_the_fastest_candidate_of_a_job_does() -> None:
    device = load_device("h100")
    fabric = fat_tree_of(load_system("dgx-h100"), 2)
    job = TransformerInference(
        model="llama-3.1-8b", precision="bf16", concurrency=16, input_tokens=100, output_tokens=400, backend="vllm",
    )  # fmt: skip
    candidates = enumerate_candidates(job, [2], device, fabric)
    scores = score(candidates, device, fabric)
    best = int(np.where(candidates.mappings.tensor[candidates.mapping] == 2, scores.step_s, np.inf).argmin())
    server_w = float(scores.power_w[best]) * 4
    assert power_w(SERVED, part="server") == pytest.approx(server_w)
    beside_w = float((scores.network_j + scores.node_j)[best] / scores.step_s[best]) / 2
    assert power_w(SERVED) == pytest.approx(server_w / 8 - beside_w)


def test_servers_that_train_draw_what_was_measured() -> None:
    assert power_w(TRAINED) == pytest.approx(0.76 * 10_200, rel=0.05)
    assert power_w(TRAINED) > 1.3 * power_w(SERVED, part="server", concurrency=1.0)


@pytest.mark.parametrize(
    "changed",
    [
        {"model": "nobody"}, {"devices": 1.5}, {"concurrency": math.nan}, {"tensor": 16.0},
        {"model": "llama-3.1-405b"},
    ],
)  # fmt: skip
def test_rows_that_cannot_be_priced_are_left_out(changed: dict[str, Any]) -> None:
    assert math.isnan(power_w(SERVED, **changed))


def test_published_figures_are_met_as_the_readme_says() -> None:
    """Mean error of the rows fitted and of those kept apart; each row tells its source."""
    table = read_table(PUBLISHED)
    assert table.family is FAMILY
    (found,) = validate_table(table)
    assert found.num_left_out == 0
    error, use = np.abs(found.error), table.columns["use"]
    assert error[use == "fitted"].mean() < 0.075
    assert error[use == "kept apart"].mean() < 0.15
    assert all(line.rsplit(",", 1)[1] or line.endswith('"') for line in PUBLISHED.read_text().splitlines())
