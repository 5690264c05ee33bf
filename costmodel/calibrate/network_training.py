"""Training steps of convolutional networks and recurrent layers on one accelerator: table network_training.csv.

The table is made by `planner calibrate --measure`. Nothing is fitted on it: such steps run at what training of
transformers reaches.
"""

from typing import Any

import numpy as np

from costmodel.calibrate.family import Calibrations, Family, Series, Table
from costmodel.dataflow.networks.convolutional import load_convolutional_network
from costmodel.dataflow.networks.recurrent import GATES
from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import load_device
from costmodel.hardware.systems import system_of
from costmodel.pricing.candidates import list_candidates
from costmodel.pricing.score import score
from costmodel.pricing.search import widest_block
from costmodel.workloads.networks.network_training import NetworkTraining

Model = str | dict[str, Any]
"""as a file says it"""


def predict(table: Table, calibrations: Calibrations | None) -> tuple[Series, ...]:
    """Time of a step, ms; ValueError where the catalog lacks the device, or the network and it is no cell, and names
    the line."""
    rows = [{name: column[i] for name, column in table.items()} for i in range(len(table["device"]))]
    predicted = np.array([1e3 * _step_s(_model(row, i + 2), row, calibrations) for i, row in enumerate(rows)])
    nowhere = np.zeros(len(rows), dtype=np.bool_)
    told = "it does not fit in memory" if np.isnan(predicted).any() else ""
    return (Series("step time", "ms", predicted, np.asarray(table["latency_ms"], np.float64), nowhere, told),)


def _step_s(model: Model, row: dict[str, Any], calibrations: Calibrations | None) -> float:
    workload = NetworkTraining.model_validate(
        {"model": model, "global_batch": int(row["batch"]), "precision": str(row["precision"])}
    )
    device = load_device(str(row["device"]))
    fabric = fat_tree_of(system_of(device.name), 1)
    found = list_candidates(workload, workload.mappings(1), device, fabric, blocks=widest_block)
    step_s = score(found, device, fabric, calibrations=calibrations).step_s
    return float(step_s.min()) if len(step_s) else np.nan


def _model(row: dict[str, Any], line: int) -> Model:
    """A name of the catalog, or a recurrent layer that takes a new input as wide as its state at each step."""
    name, sizes = str(row["network"]), {size: row[size] for size in ("hidden", "steps")}
    if name in GATES:
        if unknown := [size for size, value in sizes.items() if not value >= 1]:
            raise ValueError(f"line {line}, {unknown[0]}: a recurrent layer has 1 or more; a number is missing")
        return {"cell": name, "input_widths": 2} | {size: int(value) for size, value in sizes.items()}
    try:
        load_convolutional_network(name)
    except ValueError as error:
        raise ValueError(f"line {line}, network: {error}; or one of {', '.join(GATES)}") from None
    return name


FAMILY = Family(
    name="network_training",
    columns=("device", "network", "hidden", "steps", "batch", "precision", "latency_ms"),
    names=("device", "network", "precision"),
    groups=("device", "network"),
    predict=predict,
    blank=("hidden", "steps"),
)
