"""Measured training steps as workloads of the planner: the model, the recipe, and the mapping that was run."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import ValidationError

from costmodel.calibrate.family import Calibrations, Table
from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import Device, load_device
from costmodel.hardware.systems import system_of
from costmodel.parallelism.mappings import RECOMPUTE, Mappings
from costmodel.pricing.candidates import list_candidates
from costmodel.pricing.efficiency import efficiency_of, variant_of
from costmodel.pricing.score import score
from costmodel.pricing.search import widest_block
from costmodel.workloads import TransformerTraining
from costmodel.workloads.transformer.shapes import TransformerShape, load_model
from costmodel.workloads.transformer.training_spec import OVERLAP

RECIPE = (
    "source", "precision", "attention_precision", "fp8_param_gather", "tp_overlap", "cuda_graphs", "rank_order",
)  # fmt: skip
"""columns of names that some tables have"""
SHAPE = ("hidden", "heads", "vocab")
"""columns that describe a model which the catalog lacks: feed-forward networks are four times as wide, without gate"""
FRAMEWORKS = {"mlperf-v3.0": "nemo-23.04"}
"""software of a round that was slower than what followed with the same recipe on the same machine"""
COMPILED = ("tpu", "gaudi")
"""devices whose frameworks compile whole steps: kernels start by themselves, and messages pass beside products"""
SOME_PRODUCTS = {"save_dot_except_logits_ffn1": "full"}
"""choices that keep some results of a layer, and the one of RECOMPUTE that comes nearest"""
COUNTS = ("devices", "layers", "seq_len", "tp", "cp", "pp", "dp", "interleave", "micro_batch", "micro_batches")
MAY_BE_BLANK = ("interleave", "micro_batch", "micro_batches", "recompute")
"""choices that a source may not publish: the fastest ones that fit in memory are taken"""
OPEN_INTERLEAVE = (1, 2, 3, 4, 6, 7, 8, 12)
MOST_COUNT = 2**15
"""of each count but tokens: more was never run, and is a slip"""
MOST_TOKENS = 2**24
LEFT_OUT = (
    "unknown models, recomputation that is not none, selective or full, counts that are no whole numbers from 1 up, "
    "and degrees that do not make the number of devices or do not divide the model"
)
_ROOM = 1e18
"""bytes; what was measured did fit"""


@dataclass(frozen=True)
class Row:
    """One measured step: the workload and the mapping it ran, or those that it may have run."""

    device: Device
    workload: TransformerTraining
    mappings: Mappings

    @property
    def variant(self) -> str:
        """Of the device's efficiencies: precision, and the framework where it is an old one."""
        job = self.workload
        return f"{variant_of(job.precision)} {job.framework}".strip()

    @property
    def shows_links(self) -> bool:
        """Whether tensor ranks wait for links."""
        return bool((self.mappings.tensor > 1).all()) and not self.workload.overlap.get("tensor")

    def predict(self, calibrations: Calibrations | None) -> tuple[float, float, bool]:
        """Step time in s and peak memory in bytes, and whether the device was fitted."""
        job = self.workload
        is_fitted = efficiency_of(self.device, "training", job.precision, calibrations, job.framework)[1]
        fabric = fat_tree_of(system_of(self.device.name), int(self.mappings.num_devices[0]))
        is_pinned = len(self.mappings) == 1
        device = self.device.model_copy(update={"capacity_bytes": _ROOM}) if is_pinned else self.device
        found = list_candidates(job, self.mappings, device, fabric, blocks=widest_block)
        if not len(found):
            return np.nan, np.nan, False
        scores = score(found, device, fabric, calibrations=calibrations)
        best = int(scores.step_s.argmin())
        return float(scores.step_s[best]), float(scores.footprint_bytes[best]), is_fitted


def rows_of(table: Table) -> list[Row | None]:
    """Of each row; None for a step that could not have been run, or of an unknown model. ValueError names the row of a
    recipe that there is not, counted from 1."""
    found = []
    for number in range(len(table["device"])):
        try:
            found.append(_row({name: table[name][number] for name in table}))
        except ValidationError as error:
            first = error.errors()[0]
            said = f"{'.'.join(map(str, first['loc'][:1]))}: '{first['input']}': {first['msg']}"
            raise ValueError(f"row {number + 1}: {said}") from None
    return found


def _row(cells: dict[str, Any]) -> Row | None:
    """Kernels fused attention and norms were divided on every device but the A100, whose steps were run before."""
    device, shape = load_device(str(cells["device"])), _shape(cells)
    recompute, _, how = str(cells["recompute"]).partition("+")
    recompute = SOME_PRODUCTS.get(recompute, recompute)
    if shape is None or recompute not in (*RECOMPUTE, "") or not _is_whole(cells):
        return None
    n, is_old = {name: int(cells[name]) for name in COUNTS if np.isfinite(cells[name])}, device.name.startswith("a100")
    workload = TransformerTraining.model_validate(
        {
            "model": shape,
            "global_batch": _global_batch(cells),
            "sequence": n["seq_len"],
            "micro_batch": n.get("micro_batch"),
            "interleave": n.get("interleave", OPEN_INTERLEAVE),
            "context": n["cp"],
            "recompute": recompute or RECOMPUTE,
            "sequence_parallel": not is_old or "sequence-parallel" in how,
            "attention": "unfused" if is_old else "fused",
            "uneven_stages": True,
            "schedule": "1f1b",
            "partial_rounds": True,
            **_recipe(cells),
        }
    )
    mappings = workload.mappings(n["devices"])
    is_run = (mappings.tensor == n["tp"]) & (mappings.pipeline == n["pp"]) & (mappings.data == n["dp"])
    return Row(device, workload, mappings.take(is_run)) if is_run.any() else None


def _recipe(cells: dict[str, Any]) -> dict[str, Any]:
    """What some tables say of precision, overlap and software, as fields of the workload."""
    stated = ("precision", "attention_precision", "rank_order")
    fields: dict[str, Any] = {name: cells[name] for name in stated if cells.get(name)}
    if cells.get("fp8_param_gather") == "True":
        fields["gather_precision"] = "fp8"
    is_compiled = str(cells["device"]).startswith(COMPILED)
    if not is_compiled and cells.get("tp_overlap") != "True":
        fields["overlap"] = OVERLAP | {"tensor": 0.0}
    if np.isfinite(stage := cells.get("zero_stage", np.nan)):
        fields["zero"] = int(stage)
        if stage == 3 and np.isfinite(ranks := cells.get("fsdp", np.nan)):
            fields["shard_ranks"] = int(ranks)
    fields["cuda_graphs"] = is_compiled or cells.get("cuda_graphs", "") not in ("none", "", "False")
    fields["framework"] = FRAMEWORKS.get(str(cells.get("source", "")), "")
    return fields


def _global_batch(cells: dict[str, Any]) -> int:
    stated = cells["dp"] * cells["micro_batch"] * cells["micro_batches"]
    return int(stated if np.isfinite(stated) else cells["global_batch"])


def _is_whole(cells: dict[str, Any]) -> bool:
    counts = {name: cells[name] for name in COUNTS if name not in MAY_BE_BLANK or np.isfinite(cells[name])}
    if not np.isfinite(cells["dp"] * cells["micro_batch"] * cells["micro_batches"]):
        counts["global_batch"] = cells.get("global_batch", np.nan)
    most = {name: MOST_TOKENS if name == "seq_len" else MOST_COUNT for name in counts}
    return all(1 <= count <= most[name] and count == int(count) for name, count in counts.items())


def _shape(cells: dict[str, Any]) -> TransformerShape | None:
    layers = cells["layers"]
    if not 1 <= layers <= MOST_COUNT:
        return None
    try:
        return load_model(str(cells["model"])).model_copy(update={"layers": int(layers)})
    except ValueError:
        return _described(cells)


def _described(cells: dict[str, Any]) -> TransformerShape | None:
    """A model by its columns; None where these are not all there."""
    sizes = [cells.get(name, np.nan) for name in SHAPE]
    if not all(1 <= size <= MOST_TOKENS and size == int(size) for size in sizes):
        return None
    hidden, heads, vocabulary = (int(size) for size in sizes)
    if hidden % heads:
        return None
    return TransformerShape(
        layers=int(cells["layers"]), hidden=hidden, heads=heads, kv_heads=heads, head_dim=hidden // heads,
        ffn=4 * hidden, vocabulary=vocabulary,
    )  # fmt: skip
