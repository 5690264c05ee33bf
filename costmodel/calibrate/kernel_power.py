"""Power while one kernel runs without end: table kernel_power.csv -> idle, running, operations and memory's bytes.

The table is made by `planner calibrate --measure`. It judges the parts of power one by one, where a job mixes them.
"""

from typing import Any

import numpy as np

from costmodel.calibrate.family import Calibrations, Family, Series, Table
from costmodel.hardware.device import load_device
from costmodel.pricing.power import Drawn

IDLE = "idle"
"""kernel of the row in which nothing runs"""


def predict(table: Table, _: Calibrations | None) -> tuple[Series, ...]:
    """Power of an accelerator that does this alone, W; ValueError where the catalog lacks the device or precision."""
    rows = [{name: column[i] for name, column in table.items()} for i in range(len(table["device"]))]
    predicted = np.array([_power_w(row) for row in rows])
    nowhere = np.zeros(len(rows), dtype=np.bool_)
    return (Series("power", "W", predicted, np.asarray(table["power_w"], np.float64), nowhere),)


def _power_w(row: dict[str, Any]) -> float:
    device = load_device(str(row["device"]))
    if row["kernel"] == IDLE:
        return device.idle_w
    device.matrix_flops_per_s(row["precision"])
    run_s, none = np.array([row["latency_ms"] / 1e3]), np.zeros(1)
    compute_j = np.array([row["flops"] * device.energy_j_per_flop[row["precision"]]])
    drawn = Drawn(run_s, none, compute_j, np.array([row["bytes"] * device.memory_j_per_byte]), none)
    limit_w = np.inf if device.power_limit_w is None else device.power_limit_w
    above_idle_j = sum(drawn.energies(device, np.ones(1), limit_w).values())
    return float(device.idle_w + (above_idle_j / run_s)[0])


FAMILY = Family(
    name="kernel_power",
    columns=("device", "kernel", "precision", "flops", "bytes", "latency_ms", "power_w"),
    names=("device", "kernel", "precision"),
    groups=("device",),
    predict=predict,
    bounds=dict.fromkeys(("flops", "bytes", "latency_ms", "power_w"), (0.0, np.inf)),
)
