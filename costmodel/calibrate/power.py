"""Power while a model trains or serves: table power.csv -> what the candidates of the planner draw beside it."""

from typing import Any, Literal

import numpy as np

from costmodel.calibrate.family import Calibrations, Family, Series, Table
from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import Device, load_device
from costmodel.hardware.systems import nearest_system
from costmodel.pricing.candidates import list_candidates
from costmodel.pricing.score import score
from costmodel.pricing.search import widest_block
from costmodel.workloads import Workload
from costmodel.workloads.from_model import WorkloadChoices, workload_of_name

TRAINING = ("global_batch", "sequence")
SERVING = ("concurrency", "input_tokens", "output_tokens")
MOST = 2**24
LEFT_OUT = (
    "unknown models, counts that are no whole numbers from 1 up, rows without global_batch and sequence or "
    "concurrency, input_tokens and output_tokens, and what does not fit into memory or has no such tensor degree"
)


def predict(table: Table, calibrations: Calibrations | None) -> tuple[Series, ...]:
    """Mean power of an accelerator, or of a server with all of them, W."""
    rows = [{name: column[i] for name, column in table.items()} for i in range(len(table["device"]))]
    predicted = np.array([_power_w(row, calibrations) for row in rows])
    is_fitted = np.array([bool(load_device(str(row["device"])).power_origin) for row in rows], dtype=np.bool_)
    left_out = LEFT_OUT if np.isnan(predicted).any() else ""
    return (Series("power", "W", predicted, np.asarray(table["power_w"], np.float64), is_fitted, left_out),)


def _power_w(row: dict[str, Any], calibrations: Calibrations | None) -> float:
    """Of the fastest candidate that the row may have run; NaN where there is none."""
    device = load_device(str(row["device"]))
    job, number = _job(row, device), _count(row, "devices")
    if job is None or number is None:
        return np.nan
    system = nearest_system(device)
    fabric = fat_tree_of(system, number)
    mappings = job.mappings(number)
    if tensor := _count(row, "tensor"):
        mappings = mappings.take(mappings.tensor == tensor)
    found = list_candidates(job, mappings, device, fabric, blocks=widest_block)
    if not len(found):
        return np.nan
    scores = score(found, device, fabric, calibrations=calibrations)
    best = int(scores.step_s.argmin())
    beside_j = 0.0 if row["part"] == "server" else scores.network_j[best] + scores.node_j[best]
    power_w = (scores.energy_j[best] - beside_j) / scores.step_s[best] / number
    return float(power_w * (system.gpus_per_server if row["part"] == "server" else 1))


def _job(row: dict[str, Any], device: Device) -> Workload | None:
    """What runs; None where the row does not say so, or the catalog lacks the model."""
    numbers = {name: _count(row, name) for name in (*TRAINING, *SERVING)}
    phase: Literal["training", "inference"] = "training" if all(numbers[name] for name in TRAINING) else "inference"
    if phase == "inference" and not all(numbers[name] for name in SERVING):
        return None
    known = {name: value or 1 for name, value in numbers.items()}
    device.matrix_flops_per_s(row["precision"])
    choices = WorkloadChoices(
        phase=phase,
        precision=row["precision"],
        batch=known["global_batch"],
        sequence=known["sequence"],
        concurrency=known["concurrency"],
        input_tokens=known["input_tokens"],
        output_tokens=known["output_tokens"],
        backend=str(row.get("backend") or "generic"),
    )
    try:
        return workload_of_name(str(row["model"]), choices)
    except ValueError:
        return None


def _count(row: dict[str, Any], name: str) -> int | None:
    """A whole number of a row; None where it is absent or none."""
    value = float(row.get(name, np.nan))
    return int(value) if 1 <= value <= MOST and value == int(value) else None


FAMILY = Family(
    name="power",
    columns=("device", "model", "precision", "devices", "part", "power_w"),
    names=("device", "model", "precision", "part", "backend", "use"),
    groups=("use", "device", "model", "precision"),
    predict=predict,
    optional=("tensor", *TRAINING, *SERVING, "backend", "use"),
    bounds={"tensor": (1, MOST)},
)
