"""Training steps: prediction of measured step times and peak memory, and the fit of a device's efficiencies."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from costmodel.calibrate.family import Ablation, Calibrations, Family, Fit, Floats, Series, Table
from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import Device, load_device
from costmodel.hardware.systems import system_of
from costmodel.parallelism.mappings import RECOMPUTE, Mappings
from costmodel.pricing.calibration import Calibration, Numbers
from costmodel.pricing.candidates import list_candidates
from costmodel.pricing.efficiency import efficiency_of
from costmodel.pricing.score import score
from costmodel.pricing.search import widest_block
from costmodel.workloads import TransformerTraining
from costmodel.workloads.transformer.shapes import TransformerShape, load_model

FAMILY_NAME, VARIANT = "training", "bf16"
FREE: dict[str, float] = {"matrix": 1.0, "attention": 1.0, "launch": 1e-6, "link_bandwidth": 1e9, "step": 1e-3}
"""numbers that may be fitted, and the units in which the search runs"""
DROPPED_FIRST = ("step", "attention", "link_bandwidth", "launch")
EARNS = 0.0005
"""what a number must take off the mean error of rows kept apart to be fitted"""
TYPICAL = {"matrix": 0.6, "attention": 0.47, "launch": 34.0, "step": 10.0}
"""in these units; of links, TYPICAL_LINK of the peak"""
TYPICAL_LINK = 0.7
PRIOR = 0.01
"""a number twice or half the typical one weighs like an error of 0.7 % in one row: it decides where rows do not"""
MOST = {"matrix": 1.0, "attention": 1.0, "launch": 500.0, "link_bandwidth": 2000.0, "step": 1000.0}


_COUNTS = ("devices", "layers", "seq_len", "tp", "cp", "pp", "dp", "interleave", "micro_batch", "micro_batches")
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
class _Row:
    """One measured step: the workload and the one mapping it ran."""

    device: Device
    workload: TransformerTraining
    mappings: Mappings

    def predict(self, calibrations: Calibrations | None) -> tuple[float, float, bool]:
        """Step time in s and peak memory in bytes, and whether the device was fitted."""
        efficiency, is_fitted = efficiency_of(self.device, "training", self.workload.precision, calibrations)
        fabric = fat_tree_of(system_of(self.device.name), int(self.mappings.num_devices[0]), efficiency)
        roomy = self.device.model_copy(update={"capacity_bytes": _ROOM})
        found = list_candidates(self.workload, self.mappings, roomy, fabric, blocks=widest_block)
        scores = score(found, roomy, fabric, calibrations=calibrations)
        return float(scores.step_s.min()), float(scores.footprint_bytes[0]), is_fitted


def _rows(table: Table) -> list[_Row | None]:
    return [_row({name: table[name][i] for name in FAMILY.columns}) for i in range(len(table["device"]))]


def _row(cells: dict[str, Any]) -> _Row | None:
    """None for a step that could not have been run, or of an unknown model.

    Kernels fused attention and norms were divided on every device but the A100, whose steps were run before.
    """
    device, shape = load_device(str(cells["device"])), _shape(str(cells["model"]))
    recompute, _, how = str(cells["recompute"]).partition("+")
    if shape is None or recompute not in RECOMPUTE or not _is_whole(cells):
        return None
    n, is_old = {name: int(cells[name]) for name in _COUNTS}, device.name.startswith("a100")
    workload = TransformerTraining.model_validate(
        {
            "model": shape.model_copy(update={"layers": n["layers"]}),
            "global_batch": n["dp"] * n["micro_batch"] * n["micro_batches"],
            "sequence": n["seq_len"],
            "micro_batch": n["micro_batch"],
            "interleave": n["interleave"],
            "context": n["cp"],
            "recompute": recompute,
            "sequence_parallel": not is_old or "sequence-parallel" in how,
            "attention": "unfused" if is_old else "fused",
            "uneven_stages": True,
        }
    )
    mappings = workload.mappings(n["devices"])
    is_run = (mappings.tensor == n["tp"]) & (mappings.pipeline == n["pp"]) & (mappings.data == n["dp"])
    return _Row(device, workload, mappings.take(is_run)) if is_run.any() else None


def _is_whole(cells: dict[str, Any]) -> bool:
    most = {name: MOST_TOKENS if name == "seq_len" else MOST_COUNT for name in _COUNTS}
    return all(1 <= cells[name] <= most[name] and cells[name] == int(cells[name]) for name in _COUNTS)


def _shape(model: str) -> TransformerShape | None:
    try:
        return load_model(model)
    except ValueError:
        return None


def predict(table: Table, calibrations: Calibrations | None = None) -> tuple[Series, ...]:
    """Step time, and peak memory where it was measured."""
    found = [(np.nan, np.nan, False) if row is None else row.predict(calibrations) for row in _rows(table)]
    step_s, peak_bytes = (np.array([each[i] for each in found]) for i in (0, 1))
    is_fitted = np.array([each[2] for each in found], dtype=np.bool_)
    left_out = LEFT_OUT if np.isnan(step_s).any() else ""
    series = [Series("step time", "s", step_s, np.asarray(table["step_s"], np.float64), is_fitted, left_out)]
    if "peak_alloc_gib" in table:
        peak = np.asarray(table["peak_alloc_gib"], np.float64)
        told = "peak memory was not measured" if np.isnan(peak).any() else left_out
        predicted = np.where(np.isnan(peak), np.nan, peak_bytes / 2**30)
        series.append(Series("peak memory", "GiB", predicted, peak, is_fitted, told))
    return tuple(series)


def _fit_device(rows: list[_Row], measured_s: Floats, free: tuple[str, ...]) -> Numbers:
    """Least squares of the logarithm of step times over the free numbers."""
    from scipy.optimize import least_squares

    device = rows[0].device
    peak = system_of(device.name).nvlink_bandwidth_bytes_per_s / FREE["link_bandwidth"]
    typical = TYPICAL | {"link_bandwidth": TYPICAL_LINK * peak}
    fixed = {name: typical[name] * FREE[name] for name in ("launch", "link_bandwidth")}
    fixed["memory"] = device.memory_efficiency

    def numbers(x: Floats) -> Numbers:
        found = fixed | {name: float(value) * FREE[name] for name, value in zip(free, x, strict=True)}
        return {"attention": found["matrix"], **found}

    def residuals(x: Floats) -> Floats:
        part = Calibration(device=device.name, families={FAMILY_NAME: {VARIANT: numbers(x)}}, source="search")
        errors = np.log([row.predict((part,))[0] for row in rows]) - np.log(measured_s)
        return np.concatenate([errors, PRIOR * np.log(x / start)])

    start = np.array([typical[name] for name in free])
    most = [MOST[name] for name in free]
    least = np.full(len(free), 1e-6)
    found = least_squares(residuals, start, bounds=(least, most), x_scale=start, diff_step=1e-3, max_nfev=30)
    return numbers(found.x)


def _mean_error(rows: list[_Row], measured_s: Floats, numbers: Numbers) -> float:
    part = Calibration(device=rows[0].device.name, families={FAMILY_NAME: {VARIANT: numbers}}, source="search")
    predicted = np.array([row.predict((part,))[0] for row in rows])
    return float(np.abs(predicted / measured_s - 1).mean())


def _held_out(rows: list[_Row], measured_s: Floats, free: tuple[str, ...]) -> float:
    """Mean error of each half of the rows under the fit of the other."""
    halves = np.arange(len(rows)) % 2
    errors = []
    for half in (0, 1):
        fitted, judged = np.flatnonzero(halves != half), np.flatnonzero(halves == half)
        numbers = _fit_device([rows[i] for i in fitted], measured_s[fitted], free)
        errors.append(_mean_error([rows[i] for i in judged], measured_s[judged], numbers))
    return float(np.mean(errors))


def _by_device(table: Table) -> dict[str, tuple[list[_Row], Floats]]:
    measured_s = np.asarray(table["step_s"], np.float64)
    usable = [(row, i) for i, row in enumerate(_rows(table)) if row is not None and measured_s[i] > 0]
    if not usable:
        raise ValueError(f"no row can be fitted: left out are {LEFT_OUT}")
    picks: dict[str, list[tuple[_Row, int]]] = {}
    for row, i in usable:
        picks.setdefault(row.device.name, []).append((row, i))
    return {name: ([row for row, _ in own], measured_s[[i for _, i in own]]) for name, own in sorted(picks.items())}


def fit(table: Table) -> Fit:
    """Efficiencies of each device; a number is fitted where rows kept apart are better for it, else it is typical."""
    curves, errors, counts = {}, {}, {}
    for name, (rows, measured_s) in _by_device(table).items():
        numbers = _fit_device(rows, measured_s, _earned(rows, measured_s))
        key = (name, VARIANT)
        curves[key], errors[key], counts[key] = numbers, _mean_error(rows, measured_s, numbers), len(rows)
    return Fit(curves, errors, counts)


def _earned(rows: list[_Row], measured_s: Floats) -> tuple[str, ...]:
    """Numbers that earn their place, by leaving out one after the other."""
    free = tuple(FREE)
    error = _held_out(rows, measured_s, free)
    for term in DROPPED_FIRST:
        without = tuple(name for name in free if name != term)
        error_without = _held_out(rows, measured_s, without)
        if error_without <= error + EARNS:
            free, error = without, error_without
    return free


def ablations(table: Table) -> tuple[Ablation, ...]:
    """Without each number: matrices' share for attention, the typical launch and links, no time of an empty step."""
    every = tuple(FREE)
    found = []
    for name, (rows, measured_s) in _by_device(table).items():
        for term in ("", "attention", "launch", "link_bandwidth", "step"):
            free = tuple(each for each in every if each != term)
            found.append(Ablation(name, VARIANT, term, len(free), _held_out(rows, measured_s, free)))
    return tuple(found)


FAMILY = Family(
    name="training",
    columns=("device", "model", *_COUNTS, "recompute", "step_s"),
    names=("device", "model", "recompute"),
    groups=("device", "model", "recompute"),
    predict=predict,
    fit=fit,
    ablations=ablations,
    optional=("peak_alloc_gib",),
)
