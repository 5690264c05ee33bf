"""Another program's predictions: Calculon's step time and memory on its A100 system, beside ours.

Its known gaps: no vocabulary projection, in time or memory, and collectives whose latency does not grow with the
group. The second series leaves the vocabulary out here too, so that the rest is compared.
"""

from typing import Any

import numpy as np

from costmodel.calibrate.family import Calibrations, Family, Series, Table
from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import load_device
from costmodel.hardware.systems import system_of
from costmodel.parallelism.mappings import Mappings
from costmodel.pricing.candidates import list_candidates
from costmodel.pricing.score import score
from costmodel.pricing.search import widest_block
from costmodel.workloads import TransformerTraining
from costmodel.workloads.transformer.shapes import load_model
from costmodel.workloads.transformer.training_spec import OVERLAP

DEVICE = "a100-sxm"
"""of all rows: the system that the table was computed for"""
RECOMPUTE = {"none": "none", "attn_only": "selective", "full": "full"}
SEQUENCE = 2048
"""tokens, of all rows"""
MOST_COUNT = 1 << 15
"""of any count in a row"""
LEFT_OUT = "counts that are no whole numbers from 1 up, degrees that do not make the GPUs or divide the model"
_NUMBERS = ("gpus", "tp", "pp", "dp", "micro_batch", "interleave", "optimizer_sharding", "global_batch")


def _workload(cells: dict[str, Any], *, has_vocabulary: bool) -> TransformerTraining:
    shape = load_model(str(cells["model"]))
    if not has_vocabulary:
        shape = shape.model_copy(update={"vocabulary": 1})
    return TransformerTraining.model_validate(
        {
            "model": shape,
            "global_batch": int(cells["global_batch"]),
            "sequence": SEQUENCE,
            "micro_batch": int(cells["micro_batch"]),
            "interleave": int(cells["interleave"]),
            "partial_rounds": True,
            "recompute": RECOMPUTE.get(str(cells["recompute"]), str(cells["recompute"])),
            "zero": int(cells["optimizer_sharding"]),
            "sequence_parallel": str(cells["tp_comm"]) == "rs_ag",
            "attention": "unfused",
            "overlap": OVERLAP | {"tensor": 0.0},
        }
    )


def _is_possible(cells: dict[str, Any]) -> bool:
    """Whether the counts are whole numbers of a size that exists, and degrees make the number of GPUs."""
    counts = [cells[name] for name in _NUMBERS if name != "optimizer_sharding"]
    whole = all(1 <= count <= MOST_COUNT and count == int(count) for count in counts)
    return whole and cells["optimizer_sharding"] in (0, 1) and cells["tp"] * cells["pp"] * cells["dp"] == cells["gpus"]


def _mapping(workload: TransformerTraining, cells: dict[str, Any]) -> Mappings:
    mappings = workload.mappings(int(cells["gpus"]))
    return mappings.take((mappings.tensor == int(cells["tp"])) & (mappings.pipeline == int(cells["pp"])))


def _predict(cells: dict[str, Any], calibrations: Calibrations | None, *, has_vocabulary: bool) -> tuple[float, float]:
    """Step time in s and memory in GiB of one row; NaN where it cannot be."""
    if not _is_possible(cells):
        return np.nan, np.nan
    device = load_device(DEVICE).model_copy(update={"capacity_bytes": 1e18})
    workload = _workload(cells, has_vocabulary=has_vocabulary)
    fabric = fat_tree_of(system_of(DEVICE), int(cells["gpus"]))
    mapping = _mapping(workload, cells)
    if not len(mapping):
        return np.nan, np.nan
    found = list_candidates(workload, mapping, device, fabric, blocks=widest_block)
    scores = score(found, device, fabric, calibrations=calibrations)
    return float(scores.step_s.min()), float(scores.footprint_bytes[0]) / 2**30


def predict(table: Table, calibrations: Calibrations | None = None) -> tuple[Series, ...]:
    rows = [{name: table[name][i] for name in FAMILY.columns} for i in range(len(table["model"]))]
    ours = np.array([_predict(row, calibrations, has_vocabulary=True) for row in rows]).reshape(-1, 2)
    alike = np.array([_predict(row, calibrations, has_vocabulary=False) for row in rows]).reshape(-1, 2)
    step_s, memory = (np.asarray(table[name], np.float64) for name in ("step_s", "memory_gib"))
    fitted = np.zeros(len(rows), dtype=np.bool_)
    told = LEFT_OUT if np.isnan(ours).any() else ""
    return (
        Series("step time", "s", ours[:, 0], step_s, fitted, told),
        Series("step time without vocabulary", "s", alike[:, 0], step_s, fitted, told),
        Series("memory without vocabulary", "GiB", alike[:, 1], memory, fitted, told),
    )


FAMILY = Family(
    name="calculon",
    columns=("model", *_NUMBERS, "recompute", "tp_comm", "step_s", "memory_gib"),
    names=("model", "recompute", "tp_comm"),
    groups=("model", "recompute", "tp_comm"),
    predict=predict,
    optional=("seq_par_ag_redo",),
)
