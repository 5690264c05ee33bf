"""Rows of a serving table and candidates of the planner: one model, the same numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

from costmodel.calibrate.serving import FAMILY
from costmodel.calibrate.serving_rows import REQUESTS_PER_USER
from costmodel.hardware.device import load_device
from costmodel.hardware.systems import load_system
from costmodel.serving.backends import serving_curve
from costmodel.workloads.transformer.shapes import load_model, model_name
from planner.candidates.expand import expand
from planner.model.files import load
from planner.model.instance import Instance
from tests.costmodel.calibrate.serving_cases import grid

UNITS = {"bandwidth": "B/s", "alpha": "s", "energy": "J/B"}


@pytest.mark.parametrize(
    ("model", "backend", "precision"),
    [("qwen3-32b", "vllm", "bf16"), ("llama-3.1-8b", "trtllm", "bf16"), ("qwen3-32b", "sglang", "fp8")],
)
def test_predictions_are_those_of_an_instance(model: str, backend: str, precision: str, tmp_path: Path) -> None:
    """A row written as the job of an instance file: its candidates have the row's times."""
    table = grid(model=model, backend=backend) | {"precision": np.full(24, precision)}
    first, token = FAMILY.predict(table, None)
    curve, _ = serving_curve(load_device("h100"), backend, model_name(load_model(model)))
    for row in (5, 10, 23):
        users, tensor = int(table["concurrency"][row]), int(table["tp_size"][row])
        workload = {
            "kind": "transformer_inference", "model": model, "precision": precision, "backend": backend,
            "concurrency": users, "input_tokens": int(table["input_tokens"][row]),
            "output_tokens": int(table["output_tokens"][row]), "max_batch": max(users - curve.held_requests, 1),
            "requests_per_user": REQUESTS_PER_USER,
        }  # fmt: skip
        system = load_system("dgx-h100").model_dump(mode="json", by_alias=True)
        links = {
            f"{link}_{what}": f"{system[f'{link}_{what}']!r} {unit}"
            for link in ("nvlink", "network")
            for what, unit in UNITS.items()
        }
        fabric = {"kind": "fat_tree", "servers": 1, "gpus_per_server": 8, **links}
        job = {"name": "chat", "workload": workload, "accelerators": tensor}
        cluster = {"device": "h100-sxm", "fabric": fabric}
        path = tmp_path / f"{row}.json"
        path.write_text(json.dumps({"schema_version": 2, "name": "row", "cluster": cluster, "jobs": [job]}))
        (options,) = expand(load(Instance, path), prune=False).options
        degrees = options.candidates.mappings.tensor[options.candidates.mapping]
        scores = options.scores.take(np.flatnonzero(degrees == tensor))
        fastest = int(np.argmin(scores.step_s))
        assert first.predicted[row] == pytest.approx(1e3 * scores.ttft_s[fastest], rel=1e-9)
        assert token.predicted[row] == pytest.approx(1e3 * scores.tpot_s[fastest], rel=1e-9)
